// The reference's own loops: shapes that the om does not know are inferred again, and found.
#include <algorithm>

#include "base/error.h"
#include "runtime/backend.h"
#include "runtime/tensor_table.h"

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

/// Throws Error(kFailure) that names the step when its op refuses the values.
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
    throw Error(ExitCode::kFailure, why, "op '" + step.name + "' (" + step.types_text() + ")");
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

class Reference final : public StepwiseBackend {
 public:
  Reference()
      : StepwiseBackend({.name = "reference",
                         .path = "reference",
                         .library = "reference",
                         .launch = "LaunchReference",
                         .is_plain = true,
                         .reads_constants = true,
                         .finds_sizes = true}) {}

  std::string_view fault(const OmStep& step) const override {
    const reference::Body* body = step.call.body.get();
    if (body != nullptr &&
        (body->inputs != static_cast<int>(step.inputs.size()) || step.outputs.size() != 1))
      return "has other inputs or outputs than its body";
    return {};
  }

  int overwritten_by(const OmStep& step) const override {
    const reference::OpDef* def = reference::ops().find(step.call.type);
    const bool is_in_place = def != nullptr && def->writes_in_place;
    return is_in_place && !step.inputs.empty() ? step.inputs[0] : -1;
  }

  std::function<void()> load(const LoadContext& context, std::size_t index) const override {
    return [&step = context.om.steps[index], &tensors = context.tensors] {
      run_reference_step(step, tensors);
    };
  }
};

}  // namespace

void register_reference(BackendRegistry& registry) {
  registry.add(std::make_unique<Reference>());
}

}  // namespace aoe::runtime
