// The reference's own loops: shapes that the om does not know are inferred again, and found.
#include "runtime/backend.h"
#include "runtime/step_values.h"

namespace aoe::runtime {
namespace {

void run_reference_step(const OmStep& step, TensorTable& tensors) {
  const std::vector<Tensor> inputs = views_of(step.inputs, tensors);
  run_naming(step, [&] {
    if (has_dynamic_outputs(step, tensors)) allocate_outputs(step, inputs, tensors);
    reference::run(step.call, inputs, views_of(step.outputs, tensors));
  });
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
