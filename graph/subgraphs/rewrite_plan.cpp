// Plans as values, and their application.
#include "graph/subgraphs/rewrite_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "all_rewrites.inc"
#include "base/check.h"
#include "graph/subgraphs/composed_rewrite.h"
#include "graph/verify.h"

namespace aoe::graph {
using nlohmann::json;

const Rewrite* RewriteRegistry::find(const std::string& kind) const {
  const auto found = std::ranges::find(rewrites_, kind, &Rewrite::kind);
  return found == rewrites_.end() ? nullptr : &*found;
}

const RewriteRegistry& rewrites() {
  static const RewriteRegistry registry = [] {
    RewriteRegistry filled;
    register_all_rewrites(filled);
    const std::vector<Rewrite> single = filled.all();
    for (const Rewrite& first : single)
      for (const std::string& second : first.then) {
        AOE_CHECK(filled.find(second) != nullptr, "there is no rewrite " + second);
        filled.add(composed(first, *filled.find(second)));
      }
    return filled;
  }();
  return registry;
}

bool RewritePlan::is_disjoint() const {
  std::set<int> seen;
  for (const PlanStep& step : steps)
    for (const int node : step.nodes)
      if (!seen.insert(node).second) return false;
  return true;
}

json to_json(const RewritePlan& plan) {
  json steps = json::array();
  for (const PlanStep& step : plan.steps)
    steps.push_back({{"kind", step.kind},
                     {"version", step.version},
                     {"nodes", step.nodes},
                     {"params", step.params}});
  return {{"schema", kPlanSchema}, {"steps", steps}};
}

Result<RewritePlan> plan_from_json(const json& j) {
  if (!j.is_object() || j.value("schema", 0) != kPlanSchema)
    return Unexpected("is a plan of another schema than " + std::to_string(kPlanSchema));
  RewritePlan plan;
  try {
    for (const json& each : j.at("steps"))
      plan.steps.push_back(
          {each.at("kind"), each.at("version"), each.at("nodes"), each.at("params")});
  } catch (const json::exception& e) {
    return Unexpected(std::string("is no plan: ") + e.what());
  }
  return plan;
}

std::string to_text(const RewritePlan& plan) {
  std::string text;
  for (const PlanStep& step : plan.steps) {
    text += fmt::format("{}{}[{}]", text.empty() ? "" : " ", step.kind, fmt::join(step.nodes, " "));
    for (const auto& [name, value] : step.params) text += fmt::format(" {}={}", name, value);
  }
  return text.empty() ? "as it is" : text;
}

Result<const Rewrite*> rewrite_of(const PlanStep& step) {
  const Rewrite* rewrite = rewrites().find(step.kind);
  if (rewrite == nullptr) return Unexpected("there is no rewrite '" + step.kind + "'");
  if (rewrite->version != step.version)
    return Unexpected(fmt::format("rewrite '{}' is of version {}, this program has {}", step.kind,
                                  step.version, rewrite->version));
  return rewrite;
}

namespace {

Result<void> apply_step(Graph& graph, const std::vector<NodeId>& order, const PlanStep& step) {
  const Result<const Rewrite*> rewrite = rewrite_of(step);
  if (!rewrite) return Unexpected(rewrite.error());
  std::vector<NodeId> nodes;
  for (const int id : step.nodes) {
    if (id < 0 || id >= static_cast<int>(order.size()) || graph.nodes[order[id]].is_dead)
      return Unexpected(fmt::format("node {} is not there", id));
    nodes.push_back(order[id]);
  }
  return (*rewrite)->apply(graph, nodes, step.params);
}

/// Changes of a graph that are taken back unless they are kept.
class Attempt {
 public:
  explicit Attempt(Graph& graph) : graph_(&graph) { graph.begin_changes(); }
  ~Attempt() {
    if (graph_ != nullptr) graph_->take_back_changes();
  }
  Attempt(const Attempt&) = delete;
  Attempt& operator=(const Attempt&) = delete;

  void keep() {
    graph_->keep_changes();
    graph_ = nullptr;
  }

 private:
  Graph* graph_;
};

}  // namespace

Result<void> apply_plan(Graph& graph, const std::vector<NodeId>& order, const RewritePlan& plan) {
  Attempt attempt(graph);
  for (const PlanStep& step : plan.steps)
    if (auto applied = apply_step(graph, order, step); !applied) return applied;
  verify_nodes(graph, graph.changed_nodes(), "rewrite plan " + to_text(plan));
  attempt.keep();
  return {};
}

}  // namespace aoe::graph
