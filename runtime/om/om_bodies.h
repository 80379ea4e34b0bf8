// The bodies of control flow: oms inside the weights of the om whose steps run them, and how the ops of all are counted.
//
//   for_each_om(om, [&](const Om& own, const std::string& path) {
//     for (const OmStep& step : own.steps) note(op_name(path, step));   // "Loop_3/Add_1"
//   });
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "runtime/om/load_budget.h"
#include "runtime/om/om.h"

namespace aoe::runtime {

/// The weights of a step's bodies, where the om has them: what bodies have in common is there once. They are the step's constants behind the
/// bodies, of which attribute "bodies" says the number: those of each body that are lent, in the order of its tensors.
class WeightLender {
 public:
  WeightLender(const Om& om, const OmStep& step);
  /// Of the next body. Throws Error(kOm) when there are not enough; whether they are large enough is for who looks at the graph.
  void lend_to(Om& body, const std::string& where);
  bool has_more() const { return !left_.empty(); }

 private:
  const Om& om_;
  std::span<const int> left_;  ///< tensor ids
};

/// The constants of a step that are bodies; nothing when it cannot have so many.
std::optional<std::size_t> body_count(const OmStep& step);

/// A body as it is stored where its weights are the step's: without them.
std::string file_without_weights(const Om& body);
/// Whether a body's tensor is a weight that the om around it has: what is empty lies nowhere.
bool is_lent(const OmTensor& tensor);

/// As many as the step has; none for most. They view the memory of `om`. Throws Error(kOm) when one is damaged.
std::vector<Om> bodies_of(const Om& om, const OmStep& step);

/// All bodies within each other, of an om that was looked at alone: behind it, walking over them takes no more than this did.
/// Throws Error(kOm), also beyond the budget.
void check_bodies(const Om& om, const std::string& where, LoadBudget& budget);

/// The om, then each body of its steps with the bodies in it: the order in which events number ops. `path` is "" or
/// "<step>/" of those that the body lies in.
void for_each_om(const Om& om,
                 const std::function<void(const Om& own, const std::string& path)>& visit);

/// Steps of the om and of all bodies in it.
std::size_t op_count(const Om& om);

/// Ops of bodies: "loop/op".
std::string op_name(const std::string& path, const OmStep& step);

}  // namespace aoe::runtime
