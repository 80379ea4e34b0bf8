// The backends there are, and those whose steps share nothing.
#include "runtime/backend.h"

#include <algorithm>

#include "all_backends.inc"
#include "base/check.h"
#include "runtime/task_recording.h"

namespace aoe::runtime {
namespace {

class OneStep final : public Runnable {
 public:
  OneStep(std::function<void()> function, std::uint32_t name, int number)
      : function_(std::move(function)), name_(name), number_(number) {}

  void run(const TaskRecording& recording) override {
    TaskClock clock(recording);
    function_();
    clock.task_done(name_, number_);
  }

 private:
  std::function<void()> function_;
  std::uint32_t name_;
  int number_;
};

class StepwiseLoader final : public Loader {
 public:
  StepwiseLoader(const StepwiseBackend& backend, const LoadContext& context)
      : backend_(backend), context_(context) {}

  void load(std::span<const std::size_t> steps,
            std::vector<std::unique_ptr<Runnable>>& to) override {
    for (const std::size_t step : steps)
      to.push_back(std::make_unique<OneStep>(backend_.load(context_, step),
                                             context_.step_names[step],
                                             context_.first_op + static_cast<int>(step)));
  }

 private:
  const StepwiseBackend& backend_;
  const LoadContext& context_;
};

}  // namespace

std::unique_ptr<Loader> StepwiseBackend::open(const LoadContext& context, const Loader*) const {
  return std::make_unique<StepwiseLoader>(*this, context);
}

std::optional<StepFault> first_fault(
    const Om& om, std::span<const std::size_t> steps,
    const std::function<std::string(const Om& om, const OmStep& step)>& fault) {
  for (const std::size_t step : steps)
    if (std::string what = fault(om, om.steps[step]); !what.empty())
      return StepFault{step, std::move(what)};
  return std::nullopt;
}

std::optional<StepFault> StepwiseBackend::fault(const Om& om,
                                                std::span<const std::size_t> steps) const {
  return first_fault(om, steps, [&](const Om& in, const OmStep& step) { return fault(in, step); });
}

void BackendRegistry::add(std::unique_ptr<Backend> backend) {
  AOE_CHECK(find(backend->traits().name) == nullptr,
            "two backends are called " + std::string(backend->traits().name));
  backends_.push_back(std::move(backend));
}

const Backend* BackendRegistry::find(std::string_view name) const {
  const auto found = std::ranges::find_if(
      backends_, [&](const auto& each) { return each->traits().name == name; });
  return found == backends_.end() ? nullptr : found->get();
}

const BackendRegistry& backends() {
  static const BackendRegistry registry = [] {
    BackendRegistry all;
    register_all_backends(all);
    return all;
  }();
  return registry;
}

const Backend& backend(std::string_view name) {
  const Backend* found = backends().find(name);
  AOE_CHECK(found != nullptr, "there is no backend " + std::string(name));
  return *found;
}

}  // namespace aoe::runtime
