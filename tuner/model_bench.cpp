// Interleaved timing of whole models.
#include "tuner/model_bench.h"

#include <memory>

#include "tuner/timed_model.h"

namespace aoe::tuner {
namespace {
constexpr std::uint64_t kInputSeed = 20;
/// Weights beyond this leave no cache anything of an earlier run: who ran before does not matter.
constexpr std::size_t kFillsEveryCache = std::size_t{256} << 20;

/// A run that others disturbed is repeated a few times.
void run_undisturbed(TimedModel& model) {
  constexpr int kMostRepeats = 3;
  for (int repeat = 0; repeat <= kMostRepeats; ++repeat) {
    model.run();
    if (!model.was_disturbed()) return;
  }
}

}  // namespace

std::vector<ModelTiming> bench_models(const std::vector<std::filesystem::path>& oms,
                                      const MeasurePolicy& policy, int threads) {
  std::vector<std::unique_ptr<TimedModel>> models;
  std::vector<ModelTiming> timings(oms.size());
  for (std::size_t i = 0; i < oms.size(); ++i) {
    models.push_back(std::make_unique<TimedModel>(runtime::Om::load(oms[i]), threads));
    models.back()->draw_inputs(kInputSeed);
    for (const runtime::OmStep& step : models.back()->om().steps)
      timings[i].steps.push_back({step.name, is_conversion(step), {}});
  }
  double first_total_ns = 0;
  for (int round = 0; round < policy.max_model_rounds; ++round) {
    if (round >= policy.min_model_rounds && first_total_ns >= policy.model_duration_ms * 1e6) break;
    for (std::size_t turn = 0; turn < models.size(); ++turn) {
      const std::size_t i = (turn + static_cast<std::size_t>(round)) % models.size();
      TimedModel& model = *models[i];
      if (model.om().weights_view.size() < kFillsEveryCache) model.run();
      run_undisturbed(model);
      timings[i].samples_ns.push_back(model.total_ns());
      for (std::size_t s = 0; s < model.step_ns().size(); ++s)
        timings[i].steps[s].samples_ns.push_back(model.step_ns()[s]);
      if (i == 0) first_total_ns += model.total_ns();
    }
  }
  return timings;
}

}  // namespace aoe::tuner
