// Rounds of compiling, measuring in the model, and demoting.
#include "tuner/confirm.h"

#include <map>
#include <utility>

#include "base/check.h"
#include "base/file.h"
#include "base/log.h"

namespace aoe::tuner {
namespace {

/// Of the model's time: a smaller loss shows in no figure of the whole, and another round costs
/// seconds.
constexpr double kLeastLoss = 5e-4;

/// Samples of all ops of `nodes` together, run by run.
std::vector<double> sum_of(const ModelTiming& timing, const std::vector<std::string>& nodes) {
  const std::set<std::string> wanted(nodes.begin(), nodes.end());
  std::vector<double> sum(timing.samples_ns.size(), 0);
  for (const StepTiming& step : timing.steps) {
    if (step.is_conversion || !wanted.contains(step.node)) continue;
    for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += step.samples_ns[i];
  }
  return sum;
}

/// Tasks that run in another Format than in the untuned model: they pay in conversions around them, which no op's own time shows.
std::set<std::string> other_format_tasks(const std::vector<compiler::NodeReport>& nodes,
                                         const std::vector<TuningTask>& tasks) {
  std::map<std::string, std::string> format_of;
  for (const compiler::NodeReport& node : nodes) format_of[node.node] = node.format;
  std::set<std::string> other;
  for (const TuningTask& task : tasks)
    if (format_of[task.nodes.front()] != task.default_candidate.format.name)
      other.insert(task.key.description);
  return other;
}

}  // namespace

DemotedSource::DemotedSource(const bank::StrategySource& source,
                             const std::vector<TuningTask>& tasks,
                             const std::set<std::string>& demoted)
    : source_(source) {
  for (const TuningTask& task : tasks) {
    if (!demoted.contains(task.key.description)) continue;
    bank::Strategy strategy = compiler::strategy_of(task.default_candidate);
    strategy.measured.time_ns = task.model_ns / static_cast<double>(task.nodes.size());
    defaults_[task.key.description].strategies = {std::move(strategy)};
  }
}

std::optional<bank::StrategySet> DemotedSource::find(const bank::TaskKey& key) const {
  const auto demoted = defaults_.find(key.description);
  return demoted != defaults_.end() ? demoted->second : source_.find(key);
}

std::set<std::string> slower_tasks(const ModelTiming& untuned, const ModelTiming& tuned,
                                   const std::vector<TuningTask>& tasks, double margin) {
  std::set<std::string> slower;
  for (const TuningTask& task : tasks) {
    const std::vector<double> before = sum_of(untuned, task.nodes);
    const std::vector<double> after = sum_of(tuned, task.nodes);
    if (median(after) == 0) continue;  // its ops became part of something else
    const Comparison comparison = compare_pairs(before, after, margin);
    if (comparison.verdict != "slower") continue;
    if (median(after) - median(before) < kLeastLoss * median(untuned.samples_ns)) continue;
    logger("tuner")->info("op={} is slower in the model: us={:.2f} before_us={:.2f}",
                          task.nodes.front(), median(after) / 1e3, median(before) / 1e3);
    slower.insert(task.key.description);
  }
  return slower;
}

namespace {

class ConfirmationRun {
 public:
  ConfirmationRun(const ConfirmInput& input, Measurer& measurer)
      : in_(input), measurer_(measurer) {}

  Result<Confirmation> run() {
    std::optional<Confirmation> best;
    std::set<std::string> demoted;
    int rounds = 0;
    while (rounds < in_.policy.rounds) {
      auto round = measure_round(rounds++, demoted);
      if (!round) return Unexpected(round.error());
      const bool is_best = !best || round->now.comparison.speedup > best->comparison.speedup;
      if (is_best) best = std::move(round->now);
      const std::size_t known = demoted.size();
      demoted.merge(round->losers);
      if (demoted.size() == known) break;
    }
    // The best of several rounds flatters itself: the figure that is reported is measured anew.
    if (rounds > 1) {
      const auto again = measure(best->om, rounds);
      if (!again) return Unexpected(again.error());
      judge(*best, *again);
    }
    return std::move(*best);
  }

 private:
  struct Round {
    Confirmation now;
    std::set<std::string> losers;
  };

  Result<Round> measure_round(int number, const std::set<std::string>& demoted) {
    const DemotedSource strategies(*in_.compile.strategies, in_.tasks, demoted);
    compiler::CompileOptions options = in_.compile;
    options.strategies = &strategies;
    const compiler::Compilation tuned = compiler::compile(in_.graph, options);
    Round round;
    round.now.demoted = demoted;
    round.now.om = tuned.om.serialize();
    const auto timings = measure(round.now.om, number);
    if (!timings) return Unexpected(timings.error());
    judge(round.now, *timings);
    logger("tuner")->info("round={} untuned_ms={:.3f} tuned_ms={:.3f} verdict={} demoted={}",
                          number, round.now.untuned_ns / 1e6, round.now.tuned_ns / 1e6,
                          round.now.comparison.verdict, demoted.size());
    round.losers = slower_tasks((*timings)[0], (*timings)[1], in_.tasks, in_.policy.min_gain);
    if (round.losers.empty() && round.now.comparison.verdict == "slower")
      round.losers = other_format_tasks(tuned.nodes, in_.tasks);
    return round;
  }

  Result<std::vector<ModelTiming>> measure(const std::string& om, int number) {
    const auto path = in_.scratch_directory / ("tuned_" + std::to_string(number) + ".om");
    write_file_atomically(path, om);
    const std::filesystem::path both[] = {in_.untuned_om, path};
    auto timings = measurer_.run_models(both);
    if (timings && in_.is_stopped()) return Unexpected("tuning was stopped");
    return timings;
  }

  void judge(Confirmation& c, const std::vector<ModelTiming>& timings) const {
    c.untuned_ns = median(timings[0].samples_ns);
    c.tuned_ns = median(timings[1].samples_ns);
    c.comparison = compare_pairs(timings[0].samples_ns, timings[1].samples_ns, in_.policy.min_gain);
  }

  const ConfirmInput& in_;
  Measurer& measurer_;
};

}  // namespace

Result<Confirmation> confirm_in_model(const ConfirmInput& input, Measurer& measurer) {
  AOE_CHECK(input.compile.strategies != nullptr, "nothing to confirm");
  return ConfirmationRun(input, measurer).run();
}

}  // namespace aoe::tuner
