// What rewrites are confirmed with, and which of them lose.
#include "tuner/session/subgraph_confirm.h"

#include <map>
#include <memory>

#include "base/log.h"

namespace aoe::tuner {
namespace {

/// All instances of a subgraph together, by a paired verdict.
std::set<std::string> slower_subgraphs(const graph::Graph& untuned, const RewrittenGraph& tuned,
                                       const ModelTiming& before, const ModelTiming& after,
                                       double margin) {
  std::map<std::string, std::pair<std::set<std::string>, std::set<std::string>>> nodes;
  for (const compiler::AppliedSubgraph& each : tuned.applied) {
    auto& [replaced, made] = nodes[each.description];
    replaced.insert(each.replaced.begin(), each.replaced.end());
    made.insert(each.nodes.begin(), each.nodes.end());
  }
  std::set<std::string> slower;
  for (const auto& [description, names] : nodes) {
    const auto was_ns = subgraph_ns(before, untuned, names.first);
    const auto is_ns = subgraph_ns(after, tuned.graph, names.second);
    const Comparison comparison = compare_pairs(was_ns, is_ns, margin);
    logger("tuner")->info("subgraph of {} in the model: us={:.2f} before_us={:.2f} verdict={}",
                          *names.first.begin(), median(is_ns) / 1e3, median(was_ns) / 1e3,
                          comparison.verdict);
    if (comparison.verdict == "slower") slower.insert(description);
  }
  return slower;
}

}  // namespace

std::vector<double> subgraph_ns(const ModelTiming& timing, const graph::Graph& graph,
                                const std::set<std::string>& nodes) {
  std::set<std::string> values;
  for (const graph::Node& node : graph.nodes)
    if (!node.is_dead && nodes.contains(node.name))
      for (const auto& list : {node.inputs, node.outputs})
        for (const graph::ValueId value : list)
          if (value != graph::kNone) values.insert(graph.values[value].name);
  std::vector<double> sum(timing.samples_ns.size(), 0);
  for (const StepTiming& step : timing.steps) {
    const std::string value = step.node.substr(0, step.node.rfind(':'));
    if (step.is_conversion ? !values.contains(value) : !nodes.contains(step.node)) continue;
    for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += step.samples_ns[i];
  }
  return sum;
}

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

Result<Confirmation> confirm_subgraphs(const SubgraphConfirmInput& input, Measurer& measurer) {
  const auto compile_without = [&](const std::set<std::string>& demoted) {
    auto now = std::make_shared<const RewrittenGraph>(rewritten(input.graph, input.plans, demoted));
    compiler::CompileOptions options = input.compile;
    options.subgraphs = now->applied;
    ConfirmAttempt attempt{.om = compiler::compile(now->graph, options).om.serialize()};
    attempt.losers = [&input, now](const ModelTiming& before, const ModelTiming& after,
                                   const Comparison& whole) {
      auto losers =
          slower_subgraphs(input.graph, *now, before, after, input.setting.policy.min_gain);
      if (losers.empty() && whole.verdict == "slower")
        for (const PlannedSubgraph& each : input.plans) losers.insert(each.task->key.description);
      return losers;
    };
    return attempt;
  };
  return confirm_in_rounds(input.setting, compile_without, measurer);
}

}  // namespace aoe::tuner
