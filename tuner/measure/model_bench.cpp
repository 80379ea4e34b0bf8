// Interleaved timing of whole models.
#include "tuner/measure/model_bench.h"

#include <algorithm>
#include <memory>

#include "tuner/measure/timed_model.h"

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

std::unique_ptr<TimedModel> loaded(const std::filesystem::path& om, int threads) {
  auto model = std::make_unique<TimedModel>(runtime::Om::load(om), threads);
  model->draw_inputs(kInputSeed);
  return model;
}

/// All oms in memory, and one round after the other of them.
class LoadedModels {
 public:
  LoadedModels(const std::vector<std::filesystem::path>& oms, int threads) {
    for (const auto& om : oms) models_.push_back(loaded(om, threads));
  }

  bool fill_every_cache() const {
    return std::ranges::any_of(models_,
                               [](const auto& model) { return fills_every_cache(*model); });
  }

  /// The steps of each om, without samples.
  std::vector<ModelTiming> timings() const {
    std::vector<ModelTiming> timings(models_.size());
    for (std::size_t i = 0; i < models_.size(); ++i)
      timings[i].steps_ns.resize(models_[i]->om().steps.size());
    return timings;
  }

  /// Another model begins each round.
  void run_round(int round, std::vector<ModelTiming>& timings) {
    for (std::size_t turn = 0; turn < models_.size(); ++turn) {
      const std::size_t i = (turn + static_cast<std::size_t>(round)) % models_.size();
      TimedModel& model = *models_[i];
      if (!fills_every_cache(model)) model.run();
      run_undisturbed(model);
      timings[i].samples_ns.push_back(model.total_ns());
      for (std::size_t s = 0; s < model.step_ns().size(); ++s)
        timings[i].steps_ns[s].push_back(model.step_ns()[s]);
    }
  }

 private:
  static bool fills_every_cache(const TimedModel& model) {
    return model.om().weights_view.size() >= kFillsEveryCache;
  }

  std::vector<std::unique_ptr<TimedModel>> models_;
};

}  // namespace

std::vector<ModelTiming> bench_models(const std::vector<std::filesystem::path>& oms,
                                      const MeasurePolicy& policy, int threads, double limit_s,
                                      const std::function<void()>& round_ended) {
  const Deadline limit = Deadline::in(limit_s);
  auto models = std::make_unique<LoadedModels>(oms, threads);
  std::vector<ModelTiming> timings = models->timings();
  const int loads = models->fill_every_cache() ? 1 : policy.model_loads;
  const int rounds_each = std::max(1, policy.max_model_rounds / loads);
  double first_total_ns = 0;
  for (int round = 0; round < policy.max_model_rounds; ++round) {
    if (round >= policy.min_model_rounds && first_total_ns >= policy.model_duration_ms * 1e6) break;
    if (round > 0 && limit.has_passed()) break;
    if (round > 0 && round % rounds_each == 0) {
      models.reset();  // memory need not hold two sets of them
      models = std::make_unique<LoadedModels>(oms, threads);
    }
    models->run_round(round, timings);
    first_total_ns += timings.front().samples_ns.back();
    round_ended();
  }
  return timings;
}

}  // namespace aoe::tuner
