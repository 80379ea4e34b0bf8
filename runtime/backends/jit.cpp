// Generated code from the om's code section: kernels in a row are stages of one team's run.
#include <algorithm>
#include <optional>

#include "base/error.h"
#include "profiler/collect/memory_block.h"
#include "runtime/backend.h"
#include "runtime/jit_team.h"
#include "runtime/kernel_limits.h"
#include "runtime/step_buffers.h"

namespace aoe::runtime {
namespace {

class JitSteps final : public Runnable {
 public:
  JitSteps(JitTeam& team, std::vector<JitStage> stages) : team_(team), stages_(std::move(stages)) {}
  void run(const TaskRecording& recording) override { team_.run(stages_, recording); }
  std::span<const JitStage> stages() const override { return stages_; }

 private:
  JitTeam& team_;
  std::vector<JitStage> stages_;
};

std::uint64_t largest_scratch(const Om& om) {
  std::uint64_t bytes = 0;
  for (const OmStep& step : om.steps) bytes = std::max(bytes, step.scratch_bytes);
  return bytes;
}

class JitLoader final : public Loader {
 public:
  JitLoader(const LoadContext& context, const JitLoader* sibling)
      : context_(context),
        scratch_bytes_(largest_scratch(context.om)),
        team_(context.threads, scratch_bytes_, context.team),
        memory_("scratch " + context.om.name,
                scratch_bytes_ * static_cast<std::uint64_t>(context.threads)) {
    if (sibling != nullptr)
      module_ = sibling->module_;
    else if (!context.om.code_view.empty())
      module_ = std::make_shared<const JitModule>(context.om.code_view, context.om.name);
  }

  void load(std::span<const std::size_t> steps,
            std::vector<std::unique_ptr<Runnable>>& to) override {
    std::vector<JitStage> stages;
    for (const std::size_t step : steps) add_stages(step, stages);
    to.push_back(std::make_unique<JitSteps>(team_, std::move(stages)));
  }

 private:
  void add_stages(std::size_t index, std::vector<JitStage>& stages) {
    const OmStep& step = context_.om.steps[index];
    if (!module_)
      throw Error(ExitCode::kOm,
                  "step '" + step.name + "' is generated code, but there is no code section",
                  context_.om.name);
    for (const OmStage& stage : step.stages)
      stages.push_back({.function = module_->find(stage.symbol),
                        .buffers = context_.buffers.of(index).data(),
                        .extent = stage.extent,
                        .rounds = stage.rounds,
                        .step = context_.first_op + static_cast<int>(index),
                        .step_name = context_.step_names[index]});
    stages.back().ends_step = true;
  }

  const LoadContext& context_;
  std::uint64_t scratch_bytes_;
  JitTeam team_;
  profiler::MemoryBlock memory_;
  std::shared_ptr<const JitModule> module_;  ///< shared by the gears of a model
};

class Jit final : public Backend {
 public:
  Jit()
      : Backend({.name = "jit",
                 .path = "generated",
                 .library = "generated",
                 .launch = "LaunchGenerated"}) {}

  std::optional<StepFault> fault(const Om& om, std::span<const std::size_t> steps) const override {
    const std::optional<LimitsBySymbol> limits = limits_of(om.code_view);
    for (const std::size_t s : steps) {
      const OmStep& step = om.steps[s];
      if (step.stages.empty()) return StepFault{s, "is generated code without a stage"};
      const auto is_malformed = [](const OmStage& stage) {
        std::int64_t iterations = 0;
        return stage.symbol.empty() || stage.extent < 0 || stage.rounds < 1 ||
               __builtin_mul_overflow(stage.extent, stage.rounds, &iterations);
      };
      if (std::ranges::any_of(step.stages, is_malformed))
        return StepFault{s, "has a malformed stage"};
      if (!limits) continue;  // of an older compiler: the code is believed
      if (std::string what = beyond_limits(om, step, *limits); !what.empty())
        return StepFault{s, std::move(what)};
    }
    return std::nullopt;
  }

  std::unique_ptr<Loader> open(const LoadContext& context, const Loader* sibling) const override {
    return std::make_unique<JitLoader>(context, static_cast<const JitLoader*>(sibling));
  }
};

}  // namespace

void register_jit(BackendRegistry& registry) {
  registry.add(std::make_unique<Jit>());
}

}  // namespace aoe::runtime
