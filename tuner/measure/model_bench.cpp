// Interleaved timing of whole models.
#include "tuner/measure/model_bench.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <memory>

#include "tuner/deadline.h"
#include "tuner/measure/timed_model.h"

namespace aoe::tuner {
namespace {
constexpr std::uint64_t kInputSeed = 20;
/// Loaded once: another load of so much would be most of the time.
constexpr std::size_t kTooLargeToLoadAgain = std::size_t{256} << 20;
/// Weights of so many times L3 leave the caches nothing of an earlier run: who ran before does not matter.
constexpr std::size_t kTimesL3 = 4;

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
  LoadedModels(const std::vector<std::filesystem::path>& oms, const compiler::Soc& soc)
      : fills_every_cache_(kTimesL3 * static_cast<std::size_t>(soc.l3_bytes)) {
    for (const auto& om : oms) models_.push_back(loaded(om, soc.threads));
  }

  bool are_loaded_once() const {
    return std::ranges::any_of(models_, [](const auto& model) {
      return model->om().weights_view.size() >= kTooLargeToLoadAgain;
    });
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
      if (model.om().weights_view.size() < fills_every_cache_) model.run();
      run_undisturbed(model);
      timings[i].samples_ns.push_back(model.total_ns());
      for (std::size_t s = 0; s < model.step_ns().size(); ++s)
        timings[i].steps_ns[s].push_back(model.step_ns()[s]);
    }
  }

 private:
  std::size_t fills_every_cache_;  ///< bytes of weights
  std::vector<std::unique_ptr<TimedModel>> models_;
};

/// Of models of which the first takes so long.
int rounds_of(const MeasurePolicy& policy, double first_ns) {
  const double wanted = std::ceil(policy.model_duration_ms * 1e6 / first_ns);
  if (wanted >= policy.max_model_rounds) return policy.max_model_rounds;
  return std::min(std::max(static_cast<int>(wanted), policy.min_model_rounds),
                  policy.max_model_rounds);
}

/// Beside loading the oms: the program that starts, and its threads.
constexpr double kProcessSeconds = 0.1;

/// Loading takes a tenth of the time at most: `rounds_s` is what all rounds take, `load_s` a load.
RoundPlan plan_of(const MeasurePolicy& policy, int rounds, double rounds_s, double load_s) {
  constexpr double kMostShare = 0.25;
  const double affordable = 1 + kMostShare * rounds_s / (load_s + kProcessSeconds);
  const int loads =
      affordable >= policy.model_loads ? policy.model_loads : static_cast<int>(affordable);
  return {.loads = loads, .rounds_each = (rounds + loads - 1) / loads};
}

}  // namespace

ModelBench bench_models(const std::vector<std::filesystem::path>& oms, const MeasurePolicy& policy,
                        const compiler::Soc& soc, int rounds, double limit_s,
                        const std::function<void()>& round_ended) {
  const Deadline limit = Deadline::in(limit_s);
  const TimePoint begin = std::chrono::steady_clock::now();
  LoadedModels models(oms, soc);
  const TimePoint loaded = std::chrono::steady_clock::now();
  ModelBench bench{.timings = models.timings(), .plan = {.rounds_each = rounds}};
  for (int round = 0; round == 0 || (round < bench.plan.rounds_each && !limit.has_passed());
       ++round) {
    models.run_round(round, bench.timings);
    round_ended();
    if (bench.plan.rounds_each > 0) continue;
    rounds = rounds_of(policy, bench.timings.front().samples_ns.front());
    const double rounds_s = rounds * seconds_between(loaded, std::chrono::steady_clock::now());
    bench.plan = models.are_loaded_once()
                     ? RoundPlan{.rounds_each = rounds}
                     : plan_of(policy, rounds, rounds_s, seconds_between(begin, loaded));
  }
  for (ModelTiming& timing : bench.timings) timing.load_begins = {0};
  return bench;
}

}  // namespace aoe::tuner
