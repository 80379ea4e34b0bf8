// Oms with one plan of every subgraph, and each subgraph's share of their times.
#include "tuner/session/plan_race.h"

#include <algorithm>
#include <map>

#include "base/error.h"
#include "base/file.h"

namespace aoe::tuner {
namespace {

constexpr std::size_t kOmsAtOnce =
    4;  ///< beside the model as it is: they share memory and the time between two samples

/// The `index`-th plans of all entrants in one model.
RewrittenGraph with_plans(const std::vector<Entrants>& entrants, std::size_t index,
                          const graph::Graph& graph) {
  std::vector<PlannedSubgraph> plans;
  for (const Entrants& each : entrants)
    if (index < each.plans.size()) plans.push_back({each.task, each.plans[index]});
  return rewritten(graph, plans, {});
}

/// Nodes that stand for all instances of each subgraph, by description; those of which an instance was not rewritten are
/// left out.
std::map<std::string, std::set<std::string>> nodes_made(const std::vector<Entrants>& entrants,
                                                        const RewrittenGraph& rewritten) {
  std::map<std::string, std::set<std::string>> made;
  std::map<std::string, std::size_t> instances;
  for (const compiler::AppliedSubgraph& each : rewritten.applied) {
    made[each.description].insert(each.nodes.begin(), each.nodes.end());
    ++instances[each.description];
  }
  for (const Entrants& each : entrants)
    if (instances[each.task->key.description] != each.task->instances.size())
      made.erase(each.task->key.description);
  return made;
}

std::set<std::string> nodes_of(const SubgraphTask& task) {
  std::set<std::string> names;
  for (const auto& instance : task.nodes) names.insert(instance.begin(), instance.end());
  return names;
}

}  // namespace

void add_samples(std::vector<PlanInModel>& results, const PlanInModel& more) {
  const auto known = std::ranges::find(results, more.plan, &PlanInModel::plan);
  if (known == results.end()) return results.push_back(more);
  known->before_ns.insert(known->before_ns.end(), more.before_ns.begin(), more.before_ns.end());
  known->after_ns.insert(known->after_ns.end(), more.after_ns.begin(), more.after_ns.end());
}

Result<std::vector<std::vector<PlanInModel>>> race_in_model(const std::vector<Entrants>& entrants,
                                                            const SubgraphConfirmInput& model,
                                                            Measurer& measurer, int times) {
  std::size_t rows = 0;
  for (const Entrants& each : entrants) rows = std::max(rows, each.plans.size());
  std::vector<std::vector<PlanInModel>> results(entrants.size());
  for (std::size_t first = 0; first < rows; first += kOmsAtOnce) {
    std::vector<RewrittenGraph> graphs;
    std::vector<std::filesystem::path> oms = {model.setting.untuned_om};
    for (std::size_t row = first; row < std::min(rows, first + kOmsAtOnce); ++row) {
      graphs.push_back(with_plans(entrants, row, model.graph));
      compiler::CompileOptions options = model.compile;
      options.subgraphs = graphs.back().applied;
      oms.push_back(model.setting.scratch_directory /
                    ("plans_" + std::to_string(oms.size()) + ".om"));
      try {
        write_file_atomically(oms.back(),
                              compiler::compile(graphs.back().graph, options).om.serialize());
      } catch (const Error& e) {
        return Unexpected(e.what());
      }
    }
    for (int time = 0; time < times; ++time) {
      const auto timings = measurer.run_models(oms);
      if (!timings) return Unexpected(timings.error());
      if (model.setting.is_stopped()) return Unexpected("tuning was stopped");
      for (std::size_t i = 0; i < graphs.size(); ++i) {
        const auto made = nodes_made(entrants, graphs[i]);
        for (std::size_t e = 0; e < entrants.size(); ++e) {
          const auto nodes = made.find(entrants[e].task->key.description);
          if (first + i >= entrants[e].plans.size() || nodes == made.end()) continue;
          add_samples(results[e],
                      {entrants[e].plans[first + i],
                       subgraph_ns((*timings)[0], model.graph, nodes_of(*entrants[e].task)),
                       subgraph_ns((*timings)[i + 1], graphs[i].graph, nodes->second)});
        }
      }
    }
  }
  return results;
}

}  // namespace aoe::tuner
