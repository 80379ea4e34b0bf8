// What operators are confirmed with, and which of them lose.
#include "tuner/session/confirm.h"

#include <map>
#include <utility>

#include "base/check.h"
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

/// Tasks that run in another Format than in the untuned model: they pay in conversions around them,
/// which no op's own time shows.
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

Result<Confirmation> confirm_in_model(const ConfirmInput& input, Measurer& measurer) {
  AOE_CHECK(input.compile.strategies != nullptr, "nothing to confirm");
  const auto compile_without = [&](const std::set<std::string>& demoted) {
    const DemotedSource strategies(*input.compile.strategies, input.tasks, demoted);
    compiler::CompileOptions options = input.compile;
    options.strategies = &strategies;
    compiler::Compilation tuned = compiler::compile(input.graph, options);
    ConfirmAttempt attempt{.om = tuned.om.serialize()};
    attempt.losers = [&input, nodes = std::move(tuned.nodes)](const ModelTiming& before,
                                                              const ModelTiming& after,
                                                              const Comparison& whole) {
      auto losers = slower_tasks(before, after, input.tasks, input.setting.policy.min_gain);
      if (losers.empty() && whole.verdict == "slower")
        losers = other_format_tasks(nodes, input.tasks);
      return losers;
    };
    return attempt;
  };
  return confirm_in_rounds(input.setting, compile_without, measurer);
}

}  // namespace aoe::tuner
