// Unique of single elements: positions sorted by keys, which brings equal ones together, the first of them in front.
#include <algorithm>

#include "native/by_type.h"
#include "native/sort_key.h"
#include "reference/typed.h"

namespace aoe::native {
namespace {

/// Equal elements: entries [begin, end) of the sorted ones.
struct Group {
  std::int64_t first;
  std::size_t begin, end;
};

template <typename T>
void run_typed(const Run& run) {
  using Entry = SortEntry<decltype(sort_key(T{}))>;
  const T* x = run.inputs[0].as<T>();
  const std::int64_t length = run.inputs[0].elements();
  std::vector<Entry> entries(static_cast<std::size_t>(length));
  for (std::int64_t i = 0; i < length; ++i)
    entries[static_cast<std::size_t>(i)] = {sort_key(x[i]), i};
  std::sort(entries.begin(), entries.end());
  std::vector<Group> groups;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    if (groups.empty() || entries[i].key != entries[groups.back().begin].key)
      groups.push_back({entries[i].place, i, i});
    groups.back().end = i + 1;
  }
  if (run.attrs.get_int("sorted", 1) == 0) std::ranges::sort(groups, {}, &Group::first);
  const auto count = static_cast<std::int64_t>(groups.size());
  const Tensor values = run.make(0, {count}), first = run.make(1, {count}),
               inverse = run.make(2, {length}), counts = run.make(3, {count});
  for (std::size_t g = 0; g < groups.size(); ++g) {
    const Group& group = groups[g];
    if (values.data != nullptr) values.as<T>()[g] = x[group.first];
    if (first.data != nullptr) first.as<std::int64_t>()[g] = group.first;
    if (counts.data != nullptr)
      counts.as<std::int64_t>()[g] = static_cast<std::int64_t>(group.end - group.begin);
    for (std::size_t i = group.begin; inverse.data != nullptr && i < group.end; ++i)
      inverse.as<std::int64_t>()[entries[i].place] = static_cast<std::int64_t>(g);
  }
}

Result<void> supports(const Question& question) {
  if (question.call.attrs.has("axis")) return Unexpected("slices along an axis");
  return {};
}

}  // namespace

void register_unique(KernelRegistry& registry) {
  registry.add(
      {.type = "Unique",
       .supports = supports,
       .run = by_type<reference::AllTypes>([]<typename T>(const Run& run) { run_typed<T>(run); }),
       .makes_shapes = true});
}

}  // namespace aoe::native
