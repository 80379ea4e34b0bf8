// Caches, repetitions, and the comparison with what is expected.
#include "tuner/measure/bench.h"

#include <algorithm>
#include <limits>

#include "base/check.h"
#include "base/statistics.h"
#include "tuner/measure/timed_model.h"
#include "tuner/measure/verify.h"

namespace aoe::tuner {
namespace {

/// One candidate, ready to run.
class Runner {
 public:
  Runner(Contender contender, const Expected& expected, const BenchSetting& setting)
      : expected_(expected),
        setting_(setting),
        rounding_{.reduction_length = expected.reduction_length,
                  .error_growth = contender.error_growth,
                  .least_tolerance = expected.least_tolerance},
        model_(std::move(contender.om), setting.threads),
        repeats_left_(setting.policy.max_samples) {
    model_.set_inputs(expected.inputs);
    for (const runtime::OmStep& step : model_.om().steps)
      counts_.push_back(setting.counts(model_.om(), step));
  }

  /// Runs warm-ups and compares the output of the first.
  Timing warm_up_and_verify() {
    for (int i = 0; i < setting_.policy.warmup_runs; ++i) {
      run_ns();
      if (i > 0) continue;
      if (auto right = verify(); !right)
        return Timing::failure(Outcome::kWrongResult, right.error());
    }
    return {};
  }

  /// One sample. A run that others disturbed is repeated a few times, and the quickest counts: on a
  /// busy machine the sample would be their time. On one that is always busy, patience ends.
  double run_ns() {
    constexpr int kMostRepeats = 3;
    double least_ns = run_once_ns();
    for (int i = 0; model_.was_disturbed() && i < kMostRepeats && repeats_left_ > 0; ++i) {
      --repeats_left_;
      least_ns = std::min(least_ns, run_once_ns());
    }
    return least_ns;
  }

 private:
  double run_once_ns() {
    const std::string_view weights = model_.om().weights_view;
    setting_.caches.evict_weights(weights.data(), weights.size(), runtime::team_of(model_.om()));
    for (const ConstantPtr& input : model_.inputs())
      CacheState::touch(input->data(), input->size_bytes());
    model_.run();
    double sum_ns = 0;
    for (std::size_t i = 0; i < counts_.size(); ++i)
      if (counts_[i]) sum_ns += model_.step_ns()[i];
    return sum_ns;
  }

  Result<void> verify() const {
    AOE_CHECK(model_.outputs().size() == expected_.outputs.size(), "outputs of the om");
    for (std::size_t i = 0; i < expected_.outputs.size(); ++i) {
      auto same = compare(expected_.outputs[i]->view(), model_.outputs()[i], rounding_);
      if (!same) return Unexpected("output " + std::to_string(i) + ": " + same.error());
    }
    return {};
  }

  const Expected& expected_;
  const BenchSetting& setting_;
  const Rounding rounding_;
  TimedModel model_;
  std::vector<bool> counts_;  ///< by step
  int repeats_left_;
};

}  // namespace

Timing Bench::measure(Contender contender, double best_ns) const {
  const MeasurePolicy& policy = setting_.policy;
  return guarded(Outcome::kCrashed, [&] {
    Runner runner(std::move(contender), expected_, setting_);
    Timing result = runner.warm_up_and_verify();
    if (!result.ok()) return result;
    double total_ns = 0;
    const auto enough = [&] {
      const int count = static_cast<int>(result.samples_ns.size());
      if (count >= policy.max_samples) return true;
      return count >= policy.min_samples && total_ns >= policy.min_duration_ms * 1e6;
    };
    while (!enough() && !result.dropped) {
      result.samples_ns.push_back(runner.run_ns());
      total_ns += result.samples_ns.back();
      result.dropped = static_cast<int>(result.samples_ns.size()) == policy.drop_after_samples &&
                       median(result.samples_ns) > policy.drop_ratio * best_ns;
    }
    return result;
  });
}

namespace {

/// As many as tell "slower" from "as fast" in pairs (see compare_pairs()), and two more.
constexpr int kRoundsBeforeDrop = 8;

void drop_slow_racers(double ratio, std::vector<Timing>& timings,
                      std::vector<std::unique_ptr<Runner>>& runners) {
  double fastest_ns = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < runners.size(); ++i)
    if (runners[i]) fastest_ns = std::min(fastest_ns, timings[i].median_ns());
  for (std::size_t i = 1; i < runners.size(); ++i) {
    if (!runners[i] || timings[i].median_ns() <= ratio * fastest_ns) continue;
    timings[i].dropped = true;
    runners[i].reset();
  }
}

}  // namespace

std::vector<Timing> Bench::race(std::size_t count,
                                const std::function<Contender(std::size_t)>& contender) const {
  const MeasurePolicy& policy = setting_.policy;
  std::vector<Timing> timings(count);
  std::vector<std::unique_ptr<Runner>> runners(count);
  for (std::size_t i = 0; i < count; ++i) {
    timings[i] = guarded(Outcome::kCrashed, [&] {
      runners[i] = std::make_unique<Runner>(contender(i), expected_, setting_);
      return runners[i]->warm_up_and_verify();
    });
    if (!timings[i].ok()) runners[i].reset();
  }
  double first_total_ns = 0;
  for (int round = 0; round < policy.max_race_rounds; ++round) {
    if (round >= policy.min_race_rounds && first_total_ns >= policy.race_duration_ms * 1e6) break;
    // Each one starts a round in turn, so that none always runs in the same neighbour's wake.
    for (std::size_t turn = 0; turn < count; ++turn) {
      const std::size_t i = (turn + static_cast<std::size_t>(round)) % count;
      if (!runners[i]) continue;
      const double ns = runners[i]->run_ns();
      timings[i].samples_ns.push_back(ns);
      if (i == 0) first_total_ns += ns;
    }
    if (setting_.drops_racers && round + 1 == kRoundsBeforeDrop)
      drop_slow_racers(policy.race_drop_ratio, timings, runners);
    setting_.round_ended();
  }
  return timings;
}

}  // namespace aoe::tuner
