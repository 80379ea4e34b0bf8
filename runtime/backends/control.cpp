// If, Loop and Scan: steps that run bodies.
#include "runtime/backend.h"
#include "runtime/control_step.h"

namespace aoe::runtime {
namespace {

class Control final : public StepwiseBackend {
 public:
  Control()
      : StepwiseBackend({.name = "control",
                         .path = "control",
                         .library = "control",
                         .launch = "LaunchReference",
                         .has_bodies = true,
                         .reads_constants = true,
                         .finds_sizes = true}) {}

  std::function<void()> load(const LoadContext& context, std::size_t index) const override {
    const auto step =
        std::make_shared<ControlStep>(context.om, context.om.steps[index], context.threads);
    return [step, &tensors = context.tensors] { step->run(tensors); };
  }
};

}  // namespace

void register_control(BackendRegistry& registry) {
  registry.add(std::make_unique<Control>());
}

}  // namespace aoe::runtime
