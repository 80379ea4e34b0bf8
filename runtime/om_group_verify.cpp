// The checks on groups of steps: what passes here may run at the same time.
// Tested by tests/runtime/om_group_test.cpp.
#include <algorithm>
#include <cmath>
#include <set>

#include "runtime/om_graph.h"

namespace aoe::runtime {
namespace {

class GroupVerifier {
 public:
  explicit GroupVerifier(const Om& om) : om_(om) {}

  std::optional<std::string> fault_of(const OmGroup& group) {
    if (group.steps.size() < 2) return "has fewer than two steps";
    if (group.costs.size() != group.steps.size()) return "does not state the cost of each step";
    if (!std::ranges::all_of(group.costs, [](double c) { return std::isfinite(c) && c > 0; }))
      return "states a cost that is not positive";
    if (auto fault = fault_of_order(group.steps)) return fault;
    for (const int one : group.steps)
      for (const int other : group.steps)
        if (one != other && writes_what_is_used(om_.steps[one], om_.steps[other]))
          return "runs step '" + om_.steps[one].name + "' beside '" + om_.steps[other].name +
                 "', which uses what it writes";
    return std::nullopt;
  }

 private:
  std::optional<std::string> fault_of_order(const std::vector<int>& steps) {
    int next = 0;
    for (const int step : steps) {
      if (step < next || step >= static_cast<int>(om_.steps.size()))
        return "names step " + std::to_string(step) + " out of order or of " +
               std::to_string(om_.steps.size());
      if (om_.steps[step].kind != StepKind::kJit)
        return "holds step '" + om_.steps[step].name + "', which is no generated code";
      if (!taken_.insert(step).second)
        return "shares step '" + om_.steps[step].name + "' with another group";
      for (int between = next; next > 0 && between < step; ++between)
        if (om_.steps[between].kind != StepKind::kNone)
          return "leaves out step '" + om_.steps[between].name + "' in its middle";
      next = step + 1;
    }
    return std::nullopt;
  }

  bool writes_what_is_used(const OmStep& writer, const OmStep& user) const {
    std::vector<int> written = writer.outputs, used = user.inputs;
    written.push_back(writer.workspace);
    used.insert(used.end(), user.outputs.begin(), user.outputs.end());
    used.insert(used.end(), user.constants.begin(), user.constants.end());
    used.push_back(user.workspace);
    return std::ranges::any_of(written, [&](int w) {
      return w >= 0 && std::ranges::any_of(used, [&](int u) { return u >= 0 && overlap(w, u); });
    });
  }

  bool overlap(int a, int b) const {
    const OmTensor &x = om_.tensors[a], &y = om_.tensors[b];
    if (x.place != y.place) return false;
    // The caller's buffers are told by their index.
    if (x.place == Place::kInput || x.place == Place::kOutput) return x.offset == y.offset;
    return x.offset < y.offset + storage_bytes(y.desc) &&
           y.offset < x.offset + storage_bytes(x.desc);
  }

  const Om& om_;
  std::set<int> taken_;
};

}  // namespace

std::optional<std::string> fault_of_groups(const Om& om) {
  GroupVerifier verifier(om);
  for (std::size_t i = 0; i < om.groups.size(); ++i)
    if (const auto fault = verifier.fault_of(om.groups[i]))
      return "group " + std::to_string(i) + " " + *fault;
  return std::nullopt;
}

}  // namespace aoe::runtime
