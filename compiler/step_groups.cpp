// Groups of lowered steps, once their kernels are known. Tested by tests/compiler/side_by_side_test.cpp.
#include "compiler/step_groups.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace aoe::compiler {
namespace {

/// Elements [first, first + order.size()) as `order` names them.
template <typename T>
void reorder(std::vector<T>& list, int first, const std::vector<int>& order) {
  std::vector<T> moved;
  for (const int from : order) moved.push_back(std::move(list[from]));
  std::ranges::move(moved, list.begin() + first);
}

}  // namespace

void settle_groups(Lowered& lowered, std::vector<Kernel>& kernels) {
  std::vector<LoweredGroup> settled;
  for (const LoweredGroup& group : lowered.groups) {
    std::vector<int> order(group.count);
    std::iota(order.begin(), order.end(), group.first);
    const auto can_join = [&](int s) { return kernels[s].kind == KernelKind::kJit; };
    const auto joined =
        std::ranges::stable_partition(order, [&](int s) { return !can_join(s); }).begin();
    const auto count = static_cast<int>(order.end() - joined);
    // The same order in every graph that has the group, whatever the order of its nodes.
    std::ranges::stable_sort(joined, order.end(), std::ranges::greater{},
                             [&](int s) { return lowered.steps[s].time_ns; });
    reorder(lowered.steps, group.first, order);
    reorder(kernels, group.first, order);
    if (count > 1) settled.push_back({group.first + group.count - count, count, group.share});
  }
  lowered.groups = std::move(settled);
}

}  // namespace aoe::compiler
