// Applying plans to all instances, and finding these again.
#include "tuner/session/plan_model.h"

#include <set>
#include <string>
#include <string_view>
#include <unordered_map>

#include "base/log.h"

namespace aoe::tuner {
namespace {

/// A planned subgraph where it was rewritten.
struct RewrittenTask {
  const SubgraphTask* task = nullptr;
  int instances = 0;
  std::vector<graph::NodeId> replaced;  ///< nodes of the model, for bodies those that run them
  std::set<std::string> made;           ///< names of nodes in the rewritten one
};

/// All plans in one model.
class Rewriting {
 public:
  explicit Rewriting(const PlanModel& model)
      : model_(model), graph_(model.graph), options_(model.compile) {}

  void apply(const PlannedSubgraph& planned) {
    RewrittenTask result{.task = planned.task};
    for (const compiler::SubgraphInstance& instance : planned.task->instances) {
      auto applied = compiler::apply_to_subgraph(graph_, instance, planned.plan);
      if (!applied) {
        logger("tuner")->warn("repo_key={} is not rewritten: {}", planned.task->key.repo_key(),
                              applied.error());
        continue;
      }
      ++result.instances;
      changed_.insert(instance.in);
      note(instance, *applied, result);
      applied->repo_key = planned.task->key.repo_key();
      options_.subgraphs.push_back(std::move(*applied));
    }
    if (result.instances > 0) tasks_.push_back(std::move(result));
  }

  ConfirmAttempt compiled() {
    changed_.insert(graph::BodyPath{});
    compiler::finish_rewriting(graph_, changed_, "the plans of all subgraphs");
    const compiler::Compilation made = compiler::compile(graph_, options_);
    const StepIndex steps(graph_, made.steps);
    std::unordered_map<std::string_view, graph::NodeId> id_of;
    for (std::size_t i = 0; i < graph_.nodes.size(); ++i)
      id_of.emplace(graph_.nodes[i].name, static_cast<graph::NodeId>(i));
    ConfirmAttempt attempt{.om = made.om.serialize()};
    for (const RewrittenTask& each : tasks_) {
      std::vector<graph::NodeId> after;
      for (const std::string& name : each.made)
        if (const auto found = id_of.find(name); found != id_of.end())
          after.push_back(found->second);
      attempt.placed.push_back({.tunable = each.task,
                                .places = each.instances,
                                .before = model_.steps.with_conversions(each.replaced),
                                .after = steps.with_conversions(after)});
    }
    return attempt;
  }

 private:
  void note(const compiler::SubgraphInstance& instance, const compiler::AppliedSubgraph& applied,
            RewrittenTask& result) const {
    if (!instance.in.empty()) {
      const graph::NodeId control = instance.in.front().node;
      result.replaced.push_back(control);
      result.made.insert(model_.graph.nodes[control].name);
      return;
    }
    const auto& order = instance.form.order;
    result.replaced.insert(result.replaced.end(), order.begin(), order.end());
    result.made.insert(applied.nodes.begin(), applied.nodes.end());
  }

  const PlanModel& model_;
  graph::Graph graph_;
  compiler::CompileOptions options_;
  std::set<graph::BodyPath> changed_;
  std::vector<RewrittenTask> tasks_;
};

}  // namespace

ConfirmAttempt with_plans(const std::vector<PlannedSubgraph>& plans, const PlanModel& model) {
  Rewriting rewriting(model);
  for (const PlannedSubgraph& each : plans) rewriting.apply(each);
  return rewriting.compiled();
}

}  // namespace aoe::tuner
