// The reference's own loops: shapes that the om does not know are inferred again, and found.
#include "runtime/backend.h"
#include "runtime/step_values.h"

namespace aoe::runtime {
namespace {

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

  std::string fault(const Om& om, const OmStep& step) const override {
    const reference::Body* body = step.call.body.get();
    if (body != nullptr &&
        (body->inputs != static_cast<int>(step.inputs.size()) || step.outputs.size() != 1))
      return "has other inputs or outputs than its body";
    return inference_fault(om, step);
  }

  int overwritten_by(const OmStep& step) const override { return input_written_in_place(step); }

  std::function<void()> load(const LoadContext& context, std::size_t index) const override {
    const OmStep& step = context.om.steps[index];
    return [&om = context.om, &step, is_certain = is_certain(context.om, step),
            &tensors = context.tensors] {
      const std::vector<Tensor> inputs = views_of(step.inputs, tensors);
      run_naming(step, [&] {
        if (!is_certain) prepare_outputs(om, step, inputs, tensors);
        reference::run(step.call, inputs, views_of(step.outputs, tensors));
      });
    };
  }
};

}  // namespace

void register_reference(BackendRegistry& registry) {
  registry.add(std::make_unique<Reference>());
}

}  // namespace aoe::runtime
