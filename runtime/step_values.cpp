// With the values at hand, every shape is inferred again, and must be found.
#include "runtime/step_values.h"

#include <algorithm>

#include "base/error.h"

namespace aoe::runtime {

std::vector<Tensor> views_of(const std::vector<int>& ids, const TensorTable& tensors) {
  std::vector<Tensor> views;
  for (const int id : ids) views.push_back(tensors.view(id));
  return views;
}

bool has_dynamic_outputs(const OmStep& step, const TensorTable& tensors) {
  return std::ranges::any_of(step.outputs,
                             [&](int id) { return id >= 0 && tensors.is_dynamic(id); });
}

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

void run_naming(const OmStep& step, const std::function<void()>& f) {
  const auto refuse = [&](const std::string& why) {
    throw Error(ExitCode::kFailure, why, "op '" + step.name + "' (" + step.types_text() + ")");
  };
  try {
    f();
  } catch (const Error& e) {
    refuse(e.what());
  } catch (const reference::Undetermined&) {
    refuse("the rank of its output cannot be told");
  }
}

}  // namespace aoe::runtime
