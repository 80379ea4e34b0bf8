// Reference steps: infer again if need be, allocate, run.
#include "runtime/reference_step.h"

#include <algorithm>

#include "base/error.h"

namespace aoe::runtime {
namespace {

/// With the values at hand, every shape must be found.
void allocate_outputs(const OmStep& step, std::span<const Tensor> inputs, TensorTable& tensors) {
  const std::vector<TensorDesc> descs = reference::infer(step.call, inputs, step.outputs.size());
  for (std::size_t i = 0; i < step.outputs.size(); ++i) {
    const int id = step.outputs[i];
    if (id < 0 || !tensors.is_dynamic(id)) continue;
    if (i >= descs.size() || !is_static(descs[i].shape))
      throw Error(ExitCode::kFailure,
                  "the shape of output " + std::to_string(i) + " cannot be told");
    tensors.allocate(id, descs[i]);
  }
}

}  // namespace

void run_reference_step(const OmStep& step, TensorTable& tensors) {
  const auto views = [&](const std::vector<int>& ids) {
    std::vector<Tensor> result;
    for (const int id : ids) result.push_back(tensors.view(id));
    return result;
  };
  const std::vector<Tensor> inputs = views(step.inputs);
  const bool is_dynamic = std::any_of(step.outputs.begin(), step.outputs.end(),
                                      [&](int id) { return id >= 0 && tensors.is_dynamic(id); });
  const auto refuse = [&](const std::string& why) {
    throw Error(ExitCode::kFailure, why, "op '" + step.name + "' (" + step.call.type + ")");
  };
  try {
    if (is_dynamic) allocate_outputs(step, inputs, tensors);
    reference::run(step.call, inputs, views(step.outputs));
  } catch (const Error& e) {
    refuse(e.what());
  } catch (const reference::Undetermined&) {
    refuse("the rank of its output cannot be told");
  }
}

}  // namespace aoe::runtime
