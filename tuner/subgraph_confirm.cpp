// Rounds of rewriting, compiling and measuring in the model.
#include "tuner/subgraph_confirm.h"

#include <map>

#include "base/file.h"
#include "base/log.h"

namespace aoe::tuner {
namespace {

/// What a subgraph takes, run by run: its nodes, and the conversions of what they make.
std::vector<double> sum_of(const ModelTiming& timing, const graph::Graph& graph,
                           const std::set<std::string>& nodes) {
  std::set<std::string> values;
  for (const graph::Node& node : graph.nodes)
    if (!node.is_dead && nodes.contains(node.name))
      for (const graph::ValueId output : node.outputs)
        if (output != graph::kNone) values.insert(graph.values[output].name);
  std::vector<double> sum(timing.samples_ns.size(), 0);
  for (const StepTiming& step : timing.steps) {
    const std::string value = step.node.substr(0, step.node.rfind(':'));
    if (step.is_conversion ? !values.contains(value) : !nodes.contains(step.node)) continue;
    for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += step.samples_ns[i];
  }
  return sum;
}

class ConfirmationRun {
 public:
  ConfirmationRun(const SubgraphConfirmInput& input, Measurer& measurer)
      : in_(input), measurer_(measurer) {}

  Result<SubgraphConfirmation> run() {
    std::optional<SubgraphConfirmation> best;
    std::set<std::string> demoted;
    int round = 0;
    while (round < in_.policy.rounds) {
      std::set<std::string> losers;
      auto now = measure_round(round++, demoted, losers);
      if (!now) return Unexpected(now.error());
      if (!best || now->comparison.speedup > best->comparison.speedup) best = std::move(*now);
      const std::size_t known = demoted.size();
      demoted.merge(losers);
      if (demoted.size() == known) break;
    }
    // The best of several rounds flatters itself: the figure that is reported is measured anew.
    if (round > 1) {
      const auto again = measure(best->om, round);
      if (!again) return Unexpected(again.error());
      judge(*best, *again);
    }
    return std::move(*best);
  }

 private:
  Result<SubgraphConfirmation> measure_round(int number, const std::set<std::string>& demoted,
                                             std::set<std::string>& losers) {
    RewrittenGraph now = rewritten(in_.graph, in_.plans, demoted);
    compiler::CompileOptions options = in_.compile;
    options.subgraphs = now.applied;
    SubgraphConfirmation round{.demoted = demoted};
    round.om = compiler::compile(now.graph, options).om.serialize();
    const auto timings = measure(round.om, number);
    if (!timings) return Unexpected(timings.error());
    judge(round, *timings);
    logger("tuner")->info("round={} untuned_ms={:.3f} tuned_ms={:.3f} verdict={} demoted={}",
                          number, round.untuned_ns / 1e6, round.tuned_ns / 1e6,
                          round.comparison.verdict, demoted.size());
    losers = slower_subgraphs(now, *timings);
    if (losers.empty() && round.comparison.verdict == "slower")
      for (const PlannedSubgraph& each : in_.plans) losers.insert(each.task->key.description);
    return round;
  }

  /// All instances of a subgraph together, by a paired verdict.
  std::set<std::string> slower_subgraphs(const RewrittenGraph& now,
                                         const std::vector<ModelTiming>& timings) const {
    std::map<std::string, std::pair<std::set<std::string>, std::set<std::string>>> nodes;
    for (const compiler::AppliedSubgraph& each : now.applied) {
      auto& [before, after] = nodes[each.description];
      before.insert(each.replaced.begin(), each.replaced.end());
      after.insert(each.nodes.begin(), each.nodes.end());
    }
    std::set<std::string> slower;
    for (const auto& [description, names] : nodes) {
      const auto before = sum_of(timings[0], in_.graph, names.first);
      const auto after = sum_of(timings[1], now.graph, names.second);
      const Comparison comparison = compare_pairs(before, after, in_.policy.min_gain);
      logger("tuner")->info("subgraph of {} in the model: us={:.2f} before_us={:.2f} verdict={}",
                            *names.first.begin(), median(after) / 1e3, median(before) / 1e3,
                            comparison.verdict);
      if (comparison.verdict == "slower") slower.insert(description);
    }
    return slower;
  }

  Result<std::vector<ModelTiming>> measure(const std::string& om, int number) {
    const auto path = in_.scratch_directory / ("rewritten_" + std::to_string(number) + ".om");
    write_file_atomically(path, om);
    const std::filesystem::path both[] = {in_.untuned_om, path};
    auto timings = measurer_.run_models(both);
    if (timings && in_.is_stopped()) return Unexpected("tuning was stopped");
    return timings;
  }

  void judge(SubgraphConfirmation& c, const std::vector<ModelTiming>& timings) const {
    c.untuned_ns = median(timings[0].samples_ns);
    c.tuned_ns = median(timings[1].samples_ns);
    c.comparison = compare_pairs(timings[0].samples_ns, timings[1].samples_ns, in_.policy.min_gain);
  }

  const SubgraphConfirmInput& in_;
  Measurer& measurer_;
};

}  // namespace

RewrittenGraph rewritten(const graph::Graph& graph, const std::vector<PlannedSubgraph>& plans,
                         const std::set<std::string>& without) {
  RewrittenGraph result{.graph = graph};
  for (const PlannedSubgraph& each : plans) {
    if (without.contains(each.task->key.description)) continue;
    for (const graph::CanonicalForm& form : each.task->instances) {
      auto applied = compiler::apply_to_subgraph(result.graph, form, each.plan);
      if (!applied) {
        logger("tuner")->warn("repo_key={} is not rewritten: {}", each.task->key.repo_key(),
                              applied.error());
        continue;
      }
      applied->repo_key = each.task->key.repo_key();
      result.applied.push_back(std::move(*applied));
    }
  }
  result.graph.compact();
  return result;
}

Result<SubgraphConfirmation> confirm_subgraphs(const SubgraphConfirmInput& input,
                                               Measurer& measurer) {
  return ConfirmationRun(input, measurer).run();
}

}  // namespace aoe::tuner
