// TopK: elements as integers that sort like them, on a heap of the k best that were seen so far. Most of a long row is compared
// with the worst of these alone, a vector at a time.
#include <algorithm>

#include "native/by_type.h"
#include "native/sort_key.h"
#include "native/wide.h"
#include "reference/axes.h"
#include "reference/fail.h"
#include "reference/typed.h"

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
  Key key(T value) const { return static_cast<Key>(sort_key(value) ^ flip_); }

  void replace_worst(const Entry& entry) {
    std::pop_heap(entries_.begin(), entries_.end());
    entries_.back() = entry;
    std::push_heap(entries_.begin(), entries_.end());
  }

  std::int64_t k_;
  Key flip_;
  std::vector<Entry> entries_;  ///< a heap, the worst on top
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
  static constexpr std::int64_t kColumns =
      16;  ///< of lines that lie across, so many are copied at once

  void run_lines(std::int64_t begin, std::int64_t end) const {
    Selection<T> selection(k_, is_largest_);
    if (view_.inner == 1) {
      for (std::int64_t line = begin; line < end; ++line)
        write(line, selection.run(x_ + line * view_.dim, view_.dim), x_ + line * view_.dim);
      return;
    }
    std::vector<T> lines(static_cast<std::size_t>(kColumns * view_.dim));
    while (begin < end) {
      const std::int64_t outer = begin / view_.inner, inner = begin % view_.inner;
      const std::int64_t count = std::min({kColumns, view_.inner - inner, end - begin});
      const T* from = x_ + outer * view_.dim * view_.inner + inner;
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
