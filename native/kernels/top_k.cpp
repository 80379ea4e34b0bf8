// TopK: elements as integers that sort like them. One pass over a long row finds a bar that most of it stays below, a second one what
// does not, a vector at a time; a row of which many are wanted is sorted, and of a short one a heap has the k best that were seen so
// far. Lines that lie across a tensor are searched side by side, each with the few
// best of it in order.
#include <algorithm>
#include <cstring>
#include <limits>

#include "base/ceil_div.h"
#include "native/by_type.h"
#include "native/lines/radix_sort.h"
#include "native/lines/sort_key.h"
#include "native/wide.h"
#include "reference/elements/typed.h"
#include "reference/fail.h"
#include "reference/tensors/axes.h"

namespace aoe::native {
namespace {

constexpr std::int64_t kBlock = 16;

/// Whether one of a block is better than `bar`; keys, turned around by `flip`, are the smaller the better.
template <typename T, typename Key>
AOE_WIDE bool any_below(const T* x, Key bar, Key flip) {
  Key found = 0;
  for (std::int64_t i = 0; i < kBlock; ++i)
    found |= (sort_key(x[i]) ^ flip) < bar ? Key{-1} : Key{0};
  return found != 0;
}

/// The same of keys that are `bar` as well.
template <typename T, typename Key>
AOE_WIDE bool any_at_most(const T* x, Key bar, Key flip) {
  Key found = 0;
  for (std::int64_t i = 0; i < kBlock; ++i)
    found |= (sort_key(x[i]) ^ flip) <= bar ? Key{-1} : Key{0};
  return found != 0;
}

constexpr std::int64_t kLanes = 64;

/// best[j] = the smallest key of elements j, j + lanes, j + 2 lanes, ... as far as all have one. kCount: how many lanes, if the compiler
/// is to know.
template <std::int64_t kCount = 0, typename T, typename Key>
AOE_WIDE void best_of_lanes(const T* x, std::int64_t length, Key flip, std::int64_t count,
                            Key* __restrict best) {
  const std::int64_t lanes = kCount == 0 ? count : kCount;
  for (std::int64_t j = 0; j < lanes; ++j) best[j] = sort_key(x[j]) ^ flip;
  for (std::int64_t i = lanes; i + lanes <= length; i += lanes)
    for (std::int64_t j = 0; j < lanes; ++j) {
      const Key key = sort_key(x[i + j]) ^ flip;
      best[j] = key < best[j] ? key : best[j];
    }
}

/// The k-th smallest of kLanes keys, which are lost.
template <typename Key>
AOE_WIDE Key kth_of_lanes(Key* keys, std::int64_t k) {
  for (;;) {
    Key least = keys[0];
    for (std::int64_t j = 1; j < kLanes; ++j) least = keys[j] < least ? keys[j] : least;
    Key count = 0;
    for (std::int64_t j = 0; j < kLanes; ++j) {
      const bool is_least = keys[j] == least;
      count = static_cast<Key>(count + (is_least ? 1 : 0));
      keys[j] = is_least ? std::numeric_limits<Key>::max() : keys[j];
    }
    k -= count;
    if (k <= 0) return least;
  }
}

/// The k best of a row, the best first. Reused from row to row.
template <typename T>
class Selection {
 public:
  using Key = decltype(sort_key(T{}));
  using Entry = SortEntry<Key>;

  Selection(std::int64_t k, bool is_largest) : k_(k), flip_(is_largest ? Key{-1} : Key{0}) {}

  std::span<const Entry> run(const T* x, std::int64_t length) {
    entries_.clear();
    if (k_ == 0) return {};
    if (k_ == 1) return run_one(x, length);
    if (length >= 4 * kLanes) return are_many_of(length) ? run_many(x, length) : run_few(x, length);
    std::int64_t i = 0;
    for (; i < k_; ++i) entries_.push_back({key(x[i]), i});
    std::make_heap(entries_.begin(), entries_.end());
    while (i < length) {
      const bool is_block = i + kBlock <= length;
      const std::int64_t end = is_block ? i + kBlock : length;
      if (is_block && !any_below(x + i, entries_.front().key, flip_)) {
        i = end;
        continue;
      }
      for (; i < end; ++i)
        if (key(x[i]) < entries_.front().key) replace_worst({key(x[i]), i});
    }
    std::sort_heap(entries_.begin(), entries_.end());
    return entries_;
  }

 private:
  static constexpr std::int64_t kFew = 16;

  std::span<const Entry> run_one(const T* x, std::int64_t length) {
    Key best = key(x[0]);
    std::int64_t i = 0;
    if (length >= kBlock) {
      const std::int64_t lanes = length >= 4 * kLanes ? kLanes : kBlock;
      Key of_lanes[kLanes];
      if (lanes == kLanes)
        best_of_lanes<kLanes>(x, length, flip_, lanes, of_lanes);
      else
        best_of_lanes<kBlock>(x, length, flip_, lanes, of_lanes);
      best = *std::min_element(of_lanes, of_lanes + lanes);
      i = length / lanes * lanes;
    }
    for (; i < length; ++i) best = std::min(best, key(x[i]));
    std::int64_t place = 0;
    while (place + kBlock <= length && !any_at_most(x + place, best, flip_)) place += kBlock;
    while (key(x[place]) != best) ++place;
    entries_.push_back({best, place});
    return entries_;
  }

  /// To sort a row by bytes takes as long as to find a bar and what reaches it, if it is not much longer than k.
  bool are_many_of(std::int64_t length) const {
    constexpr std::int64_t kShort = 2048, kMany = 16, kManyOfShort = 32;
    return k_ > kFew && k_ * (length < kShort ? kManyOfShort : kMany) >= length;
  }

  /// The k-th best of the lanes' best is no better than the k-th best of all. With four lanes for each of k little more than k
  /// elements reach it where they differ.
  Key bar_of(const T* x, std::int64_t length) {
    const std::int64_t lanes = ceil_div(k_, kFew) * kLanes;
    lanes_.resize(static_cast<std::size_t>(lanes));
    if (lanes == kLanes)
      best_of_lanes<kLanes>(x, length, flip_, lanes, lanes_.data());
    else
      best_of_lanes(x, length, flip_, lanes, lanes_.data());
    constexpr std::int64_t kVeryFew = 6;
    if (k_ <= kVeryFew && lanes == kLanes) return kth_of_lanes(lanes_.data(), k_);
    std::nth_element(lanes_.begin(), lanes_.begin() + (k_ - 1), lanes_.end());
    return lanes_[static_cast<std::size_t>(k_ - 1)];
  }

  /// What is worse is passed by.
  std::span<const Entry> run_few(const T* x, std::int64_t length) {
    const Key bar = bar_of(x, length);
    for (std::int64_t i = 0; i < length;) {
      const bool is_block = i + kBlock <= length;
      const std::int64_t end = is_block ? i + kBlock : length;
      if (is_block && !any_at_most(x + i, bar, flip_)) {
        i = end;
        continue;
      }
      for (; i < end; ++i)
        if (key(x[i]) <= bar) entries_.push_back({key(x[i]), i});
    }
    std::nth_element(entries_.begin(), entries_.begin() + (k_ - 1), entries_.end());
    entries_.resize(static_cast<std::size_t>(k_));
    std::sort(entries_.begin(), entries_.end());
    return entries_;
  }

  /// What may be among the best by the first bits of its key is sorted.
  std::span<const Entry> run_many(const T* x, std::int64_t length) {
    const std::size_t worst = worst_leading(x, length);
    for (std::int64_t i = 0; i < length; ++i)
      if (const Key each = key(x[i]); leading(each) <= worst) entries_.push_back({each, i});
    radix_sort(entries_, room_);
    return std::span<const Entry>(entries_).first(static_cast<std::size_t>(k_));
  }

  static constexpr std::size_t kLeadingBits = 12;  ///< a sign, the exponent of a float, and more

  static std::size_t leading(Key key) {
    constexpr std::size_t kHalf = std::size_t{1} << (kLeadingBits - 1);
    return static_cast<std::size_t>(key >> (8 * sizeof(Key) - kLeadingBits)) + kHalf;
  }

  /// That of the k-th best.
  std::size_t worst_leading(const T* x, std::int64_t length) {
    counts_.assign(std::size_t{1} << kLeadingBits, 0);
    for (std::int64_t i = 0; i < length; ++i) ++counts_[leading(key(x[i]))];
    std::size_t worst = 0;
    for (std::int64_t seen = counts_[0]; seen < k_; seen += counts_[worst]) ++worst;
    return worst;
  }

  Key key(T value) const { return static_cast<Key>(sort_key(value) ^ flip_); }

  void replace_worst(const Entry& entry) {
    std::pop_heap(entries_.begin(), entries_.end());
    entries_.back() = entry;
    std::push_heap(entries_.begin(), entries_.end());
  }

  std::int64_t k_;
  Key flip_;
  std::vector<Entry> entries_;  ///< a heap, the worst on top; or in order
  std::vector<Entry> room_;
  std::vector<Key> lanes_;
  std::vector<std::int64_t> counts_;
};

/// The k best of neighbouring lines, whose elements lie `stride` behind each other, in vectors over the lines.
template <typename T>
class SideBySide {
 public:
  using Key = decltype(sort_key(T{}));
  using Place = Key;  ///< so that vectors of both have equal lanes
  static constexpr std::int64_t kLines = kFloats * sizeof(float) / sizeof(Key), kMost = 16;

  static bool pays(std::int64_t k, std::int64_t length) {
    return k <= kMost && length <= std::numeric_limits<Place>::max();
  }

  SideBySide(std::int64_t k, bool is_largest) : k_(k), flip_(is_largest ? Key{-1} : Key{0}) {}

  /// kLines lines.
  AOE_WIDE void run(const T* x, std::int64_t stride, std::int64_t length) {
    Keys keys[kMost], places[kMost];
    for (std::int64_t i = 0; i < length; ++i) {
      Keys key, place,
          is_better = {};  // than what stands at a rank before: all behind it move down
      for (std::int64_t c = 0; c < kLines; ++c) key[c] = sort_key(x[i * stride + c]);
      key ^= flip_;
      place = static_cast<Place>(i) - Keys{};
      const std::int64_t ranks = std::min(i, k_);
      for (std::int64_t rank = 0; rank < ranks; ++rank) {
        const Keys key_here = keys[rank], place_here = places[rank];
        is_better |= key < key_here;
        keys[rank] = is_better ? key : key_here;
        places[rank] = is_better ? place : place_here;
        key = is_better ? key_here : key;
        place = is_better ? place_here : place;
      }
      if (i >= k_) continue;
      keys[i] = key;
      places[i] = place;
    }
    std::memcpy(places_, places, sizeof places_);
  }

  std::int64_t place(std::int64_t rank, std::int64_t line) const { return places_[rank][line]; }

 private:
  using Keys __attribute__((vector_size(kFloats * sizeof(float)))) = Key;

  std::int64_t k_;
  Key flip_;
  Place places_[kMost][kLines] = {};
};

template <typename T>
class TopK {
 public:
  explicit TopK(const Run& run)
      : x_(run.inputs[0].as<T>()), values_(run.output(0)), places_(run.output(1)) {
    const Shape& in = run.shape(0);
    const std::size_t axis = reference::normalize_axis(run.attrs.get_int("axis", -1), in.size());
    view_ = reference::view_axis(in, axis);
    const Shape& out = (values_.data != nullptr ? values_ : places_).desc.shape;
    k_ = out[axis];
    if (k_ > view_.dim)
      reference::fail_model("k is " + std::to_string(k_) + ", but the axis has " +
                            std::to_string(view_.dim) + " elements");
    is_largest_ = run.attrs.get_int("largest", 1) != 0;
  }

  void run(Threads& threads) const {
    const double cost = static_cast<double>(view_.dim + 8 * k_);
    threads.share(view_.outer * view_.inner, cost,
                  [&](std::int64_t begin, std::int64_t end) { run_lines(begin, end); });
  }

 private:
  /// Of lines that lie across, so many at once.
  static constexpr std::int64_t kColumns = SideBySide<T>::kLines;

  void run_lines(std::int64_t begin, std::int64_t end) const {
    Selection<T> selection(k_, is_largest_);
    if (view_.inner == 1) {
      for (std::int64_t line = begin; line < end; ++line)
        write(line, selection.run(x_ + line * view_.dim, view_.dim), x_ + line * view_.dim);
      return;
    }
    std::vector<T> lines(static_cast<std::size_t>(kColumns * view_.dim));
    SideBySide<T> beside(k_, is_largest_);
    while (begin < end) {
      const std::int64_t outer = begin / view_.inner, inner = begin % view_.inner;
      const std::int64_t count = std::min({kColumns, view_.inner - inner, end - begin});
      const T* from = x_ + outer * view_.dim * view_.inner + inner;
      if (count == kColumns && SideBySide<T>::pays(k_, view_.dim)) {
        beside.run(from, view_.inner, view_.dim);
        write(begin, beside, from);
        begin += count;
        continue;
      }
      for (std::int64_t i = 0; i < view_.dim; ++i)
        for (std::int64_t c = 0; c < count; ++c)
          lines[static_cast<std::size_t>(c * view_.dim + i)] = from[i * view_.inner + c];
      for (std::int64_t c = 0; c < count; ++c) {
        const T* line = lines.data() + c * view_.dim;
        write(begin + c, selection.run(line, view_.dim), line);
      }
      begin += count;
    }
  }

  void write(std::int64_t line, std::span<const typename Selection<T>::Entry> best,
             const T* x) const {
    std::int64_t to = line / view_.inner * k_ * view_.inner + line % view_.inner;
    for (const auto& entry : best) {
      if (values_.data != nullptr) values_.as<T>()[to] = x[entry.place];
      if (places_.data != nullptr) places_.as<std::int64_t>()[to] = entry.place;
      to += view_.inner;
    }
  }

  /// Of kColumns lines.
  void write(std::int64_t line, const SideBySide<T>& best, const T* x) const {
    std::int64_t to = line / view_.inner * k_ * view_.inner + line % view_.inner;
    for (std::int64_t rank = 0; rank < k_; ++rank, to += view_.inner)
      for (std::int64_t c = 0; c < kColumns; ++c) {
        const std::int64_t place = best.place(rank, c);
        if (values_.data != nullptr) values_.as<T>()[to + c] = x[place * view_.inner + c];
        if (places_.data != nullptr) places_.as<std::int64_t>()[to + c] = place;
      }
  }

  const T* x_;
  Tensor values_, places_;
  reference::AxisView view_;
  std::int64_t k_ = 0;
  bool is_largest_ = true;
};

}  // namespace

void register_top_k(KernelRegistry& registry) {
  registry.add({.type = "TopKV2",
                .supports = takes_all,
                .run = by_type<reference::NumericTypes>(
                    []<typename T>(const Run& run) { TopK<T>(run).run(run.threads); })});
}

}  // namespace aoe::native
