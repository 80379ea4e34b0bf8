// Applying plans to all instances, and finding these again.
#include "tuner/session/plan_model.h"

#include <string_view>
#include <unordered_map>

#include "base/log.h"
#include "graph/verify.h"

namespace aoe::tuner {
namespace {

/// A planned subgraph where it was rewritten.
struct RewrittenTask {
  const SubgraphTask* task = nullptr;
  int instances = 0;
  std::vector<graph::NodeId> replaced;  ///< nodes of the model
  std::set<std::string> made;           ///< names of nodes in the rewritten one
};

RewrittenTask apply(const PlannedSubgraph& planned, graph::Graph& graph,
                    std::vector<compiler::AppliedSubgraph>& done) {
  RewrittenTask result{.task = planned.task};
  for (const graph::CanonicalForm& form : planned.task->instances) {
    auto applied = compiler::apply_to_subgraph(graph, form, planned.plan);
    if (!applied) {
      logger("tuner")->warn("repo_key={} is not rewritten: {}", planned.task->key.repo_key(),
                            applied.error());
      continue;
    }
    ++result.instances;
    result.replaced.insert(result.replaced.end(), form.order.begin(), form.order.end());
    result.made.insert(applied->nodes.begin(), applied->nodes.end());
    applied->repo_key = planned.task->key.repo_key();
    done.push_back(std::move(*applied));
  }
  return result;
}

}  // namespace

ConfirmAttempt with_plans(const std::vector<PlannedSubgraph>& plans, const PlanModel& model) {
  graph::Graph graph = model.graph;
  compiler::CompileOptions options = model.compile;
  std::vector<RewrittenTask> tasks;
  for (const PlannedSubgraph& each : plans) tasks.push_back(apply(each, graph, options.subgraphs));
  graph.compact();
  graph::verify(graph, "the plans of all subgraphs");

  const compiler::Compilation compiled = compiler::compile(graph, options);
  const StepIndex steps(graph, compiled.steps);
  std::unordered_map<std::string_view, graph::NodeId> id_of;
  for (std::size_t i = 0; i < graph.nodes.size(); ++i)
    id_of.emplace(graph.nodes[i].name, static_cast<graph::NodeId>(i));
  ConfirmAttempt attempt{.om = compiled.om.serialize()};
  for (const RewrittenTask& each : tasks) {
    if (each.instances == 0) continue;
    std::vector<graph::NodeId> made;
    for (const std::string& name : each.made)
      if (const auto found = id_of.find(name); found != id_of.end()) made.push_back(found->second);
    attempt.placed.push_back({.tunable = each.task,
                              .places = each.instances,
                              .before = model.steps.with_conversions(each.replaced),
                              .after = steps.with_conversions(made)});
  }
  return attempt;
}

}  // namespace aoe::tuner
