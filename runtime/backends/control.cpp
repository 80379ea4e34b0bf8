// If, Loop, Scan and MapSlices: steps that run bodies.
#include "runtime/backend.h"
#include "runtime/control_step.h"
#include "runtime/slice_map.h"

namespace aoe::runtime {
namespace {

bool maps_slices(const OmStep& step) {
  return step.call.type == "MapSlices";
}

class ControlLoader final : public Loader {
 public:
  explicit ControlLoader(const LoadContext& context) : context_(context) {}

  void load(std::span<const std::size_t> steps,
            std::vector<std::unique_ptr<Runnable>>& to) override {
    for (const std::size_t step : steps) {
      if (maps_slices(context_.om.steps[step]))
        to.push_back(std::make_unique<SliceMap>(context_, step));
      else
        to.push_back(std::make_unique<ControlStep>(context_, step));
    }
  }

 private:
  const LoadContext& context_;
};

class Control final : public Backend {
 public:
  Control()
      : Backend({.name = "control",
                 .path = "control",
                 .library = "control",
                 .launch = "LaunchReference",
                 .has_bodies = true,
                 .reads_constants = true,
                 .finds_sizes = true}) {}

  std::optional<StepFault> fault(const Om& om, std::span<const std::size_t> steps) const override {
    return first_fault(om, steps, [](const Om& each, const OmStep& step) {
      return maps_slices(step) ? SliceMap::fault(each, step) : ControlStep::fault(each, step);
    });
  }

  std::unique_ptr<Loader> open(const LoadContext& context, const Loader*) const override {
    return std::make_unique<ControlLoader>(context);
  }
};

}  // namespace

void register_control(BackendRegistry& registry) {
  registry.add(std::make_unique<Control>());
}

}  // namespace aoe::runtime
