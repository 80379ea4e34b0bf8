// Unique: positions sorted by keys, which brings equal ones together, the first of them in front. The key of a slice along an axis
// are those of its elements, one behind the other.
#include <algorithm>

#include "native/by_type.h"
#include "native/lines/radix_sort.h"
#include "native/lines/sort_key.h"
#include "reference/elements/typed.h"
#include "reference/tensors/axes.h"

namespace aoe::native {
namespace {

/// Equal elements or slices: [begin, end) of the sorted positions.
struct Group {
  std::int64_t first;
  std::size_t begin, end;
};

/// What lies in a tensor along the axis; without one all elements do.
reference::AxisView view_of(const Run& run) {
  const Shape& shape = run.shape(0);
  if (!run.attrs.has("axis")) return {1, element_count(shape), 1};
  return reference::view_axis(
      shape, reference::normalize_axis(run.attrs.get_int("axis", 0), shape.size()));
}

/// Of sorted positions.
template <typename Equal>
std::vector<Group> groups_of(const std::vector<std::int64_t>& order, bool is_sorted,
                             const Equal& are_equal) {
  std::vector<Group> groups;
  for (std::size_t i = 0; i < order.size(); ++i) {
    if (groups.empty() || !are_equal(order[i], order[groups.back().begin]))
      groups.push_back({order[i], i, i});
    groups.back().end = i + 1;
  }
  if (!is_sorted) std::ranges::sort(groups, {}, &Group::first);
  return groups;
}

/// The different slices, of which `view` is that of the input.
template <typename T>
void write_values(const Run& run, const reference::AxisView& view,
                  const std::vector<Group>& groups) {
  const auto count = static_cast<std::int64_t>(groups.size());
  Shape shape = {count};
  if (run.attrs.has("axis")) {
    shape = run.shape(0);
    shape[reference::normalize_axis(run.attrs.get_int("axis", 0), shape.size())] = count;
  }
  const Tensor values = run.make(0, shape);
  if (values.data == nullptr) return;
  const T* x = run.inputs[0].as<T>();
  T* to = values.as<T>();
  for (std::int64_t o = 0; o < view.outer; ++o)
    for (const Group& group : groups)
      to = std::copy_n(x + (o * view.dim + group.first) * view.inner, view.inner, to);
}

void write_places(const Run& run, const reference::AxisView& view,
                  const std::vector<std::int64_t>& order, const std::vector<Group>& groups) {
  const auto count = static_cast<std::int64_t>(groups.size());
  const Tensor first = run.make(1, {count}), inverse = run.make(2, {view.dim}),
               counts = run.make(3, {count});
  if (order.empty() && inverse.data != nullptr)
    std::fill_n(inverse.as<std::int64_t>(), view.dim, std::int64_t{0});
  for (std::size_t g = 0; g < groups.size(); ++g) {
    const Group& group = groups[g];
    if (first.data != nullptr) first.as<std::int64_t>()[g] = group.first;
    if (counts.data != nullptr)
      counts.as<std::int64_t>()[g] = static_cast<std::int64_t>(group.end - group.begin);
    const bool is_placed = inverse.data != nullptr && !order.empty();
    for (std::size_t i = group.begin; is_placed && i < group.end; ++i)
      inverse.as<std::int64_t>()[order[i]] = static_cast<std::int64_t>(g);
  }
}

template <typename T>
class Uniques {
 public:
  explicit Uniques(const Run& run) : run_(run), view_(view_of(run)) {}

  void run() {
    if (length_ == 0 && view_.dim > 0) return run_empty();
    make_keys();
    const bool is_sorted = run_.attrs.get_int("sorted", 1) != 0;
    const std::vector<std::int64_t> order = length_ == 1 ? sorted_elements() : sorted_slices();
    const auto groups = groups_of(order, is_sorted, [&](std::int64_t a, std::int64_t b) {
      return std::equal(key(a), key(a) + length_, key(b));
    });
    write_values<T>(run_, view_, groups);
    write_places(run_, view_, order, groups);
  }

 private:
  using Key = decltype(sort_key(T{}));

  /// Slices without elements, of which there may be more than memory has room for, are all the first.
  void run_empty() const {
    const std::vector<Group> one = {{0, 0, static_cast<std::size_t>(view_.dim)}};
    write_values<T>(run_, view_, one);
    write_places(run_, view_, {}, one);
  }

  const Key* key(std::int64_t slice) const { return keys_.data() + slice * length_; }

  void make_keys() {
    keys_.resize(static_cast<std::size_t>(view_.dim * length_));
    const T* x = run_.inputs[0].as<T>();
    run_.threads.share(
        view_.dim, static_cast<double>(length_), [&](std::int64_t begin, std::int64_t end) {
          for (std::int64_t slice = begin; slice < end; ++slice)
            for (std::int64_t o = 0; o < view_.outer; ++o)
              for (std::int64_t i = 0; i < view_.inner; ++i)
                keys_[static_cast<std::size_t>(slice * length_ + o * view_.inner + i)] =
                    sort_key(x[(o * view_.dim + slice) * view_.inner + i]);
        });
  }

  std::vector<std::int64_t> sorted_elements() const {
    std::vector<SortEntry<Key>> entries, room;
    for (std::int64_t i = 0; i < view_.dim; ++i) entries.push_back({*key(i), i});
    constexpr std::size_t kMany = 128;  // which are worth counting bytes
    if (entries.size() < kMany)
      std::sort(entries.begin(), entries.end());
    else
      radix_sort(entries, room);
    std::vector<std::int64_t> order;
    for (const SortEntry<Key>& entry : entries) order.push_back(entry.place);
    return order;
  }

  std::vector<std::int64_t> sorted_slices() const {
    std::vector<std::int64_t> order;
    for (std::int64_t i = 0; i < view_.dim; ++i) order.push_back(i);
    std::ranges::sort(order, [&](std::int64_t a, std::int64_t b) {
      const auto [x, y] = std::mismatch(key(a), key(a) + length_, key(b));
      return x == key(a) + length_ ? a < b : *x < *y;
    });
    return order;
  }

  const Run& run_;
  const reference::AxisView view_;
  const std::int64_t length_ = view_.outer * view_.inner;  ///< of a slice
  std::vector<Key> keys_;                                  ///< slice by slice
};

}  // namespace

void register_unique(KernelRegistry& registry) {
  registry.add({.type = "Unique",
                .supports = takes_all,
                .run = by_type<reference::AllTypes>(
                    []<typename T>(const Run& run) { Uniques<T>(run).run(); }),
                .makes_shapes = true});
}

}  // namespace aoe::native
