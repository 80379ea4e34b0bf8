// The reference's own loops: shapes that the om does not know are inferred again, and found.
#include <memory>
#include <optional>

#include "runtime/backend.h"
#include "runtime/inferred_outputs.h"
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
    struct Made {
      StepTensors inputs, outputs;
      std::optional<InferredOutputs> inferred;  ///< none: it is certain
    };
    const auto made = std::make_shared<Made>(Made{{context.om, step.inputs, context.tensors},
                                                  {context.om, step.outputs, context.tensors},
                                                  {}});
    if (!is_certain(context.om, step)) made->inferred.emplace(context.om, step, context.tensors);
    return [&step, made] {
      run_naming(step, [&] {
        const std::span<const Tensor> inputs = made->inputs.now();
        if (made->inferred) made->inferred->prepare(inputs);
        reference::run(step.call, inputs, made->outputs.now());
      });
    };
  }
};

}  // namespace

void register_reference(BackendRegistry& registry) {
  registry.add(std::make_unique<Reference>());
}

}  // namespace aoe::runtime
