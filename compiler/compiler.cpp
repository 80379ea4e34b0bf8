// compile(): lower, build, report.
#include "compiler/compiler.h"

#include <algorithm>
#include <utility>

#include "base/log.h"
#include "compiler/lowering/lowering.h"
#include "compiler/lowering/om_builder.h"

namespace aoe::compiler {
namespace {

/// The om's tuning section: which strategy each op got, and where from.
nlohmann::json tuning_section(const std::vector<NodeReport>& nodes, const CompileOptions& options) {
  nlohmann::json ops = nlohmann::json::array();
  for (const NodeReport& node : nodes) {
    ops.push_back({{"node", node.node},
                   {"op_types", node.op_types},
                   {"repo_key", node.repo_key},
                   {"impl", node.impl},
                   {"format", node.format},
                   {"schedule", node.schedule},
                   {"source", node.bank_hit                       ? "bank"
                              : !node.near.empty()                ? "near"
                              : options.fixed.contains(node.node) ? "fixed"
                                                                  : "default"}});
    if (!node.near.empty()) ops.back()["near"] = node.near;
  }
  nlohmann::json subgraphs = nlohmann::json::array();
  for (const AppliedSubgraph& each : options.subgraphs)
    subgraphs.push_back(
        {{"repo_key", each.repo_key}, {"rewrites", each.plan}, {"nodes", each.nodes}});
  return {
      {"subgraphs", subgraphs},
      {"strategies", options.strategies == nullptr ? "none" : options.strategies->description()},
      {"nodes", ops}};
}

}  // namespace

int Compilation::bank_hits() const {
  return static_cast<int>(std::ranges::count_if(nodes, &NodeReport::bank_hit));
}

namespace {

Compilation built_from(Lowered lowered, const std::string& name, Texts texts,
                       const CompileOptions& options) {
  Compilation result{.nodes = std::move(lowered.reports)};
  BuiltOm built = build_om(name, std::move(lowered), options);
  result.om = std::move(built.om);
  result.om.texts = std::move(texts);
  result.steps = std::move(built.steps);
  result.weights = std::move(built.weights);
  result.om.tuning = tuning_section(result.nodes, options);
  logger("compiler")
      ->info(
          "model={} ops={} bank_hits={} strategies='{}' arena_bytes={} weight_bytes={} "
          "code_bytes={}",
          name, result.nodes.size(), result.bank_hits(),
          options.strategies == nullptr ? "none" : options.strategies->description(),
          result.om.arena_bytes, result.om.weights.size(), result.om.code.size());
  return result;
}

}  // namespace

Compilation compile(const graph::Graph& graph, const CompileOptions& options) {
  return built_from(lower_graph(graph, options), graph.name, graph.texts, options);
}

Compilation compile(graph::Graph&& graph, const CompileOptions& options) {
  Lowered lowered = lower_graph(graph, options);
  graph::Graph done = std::exchange(graph, {});
  const std::string name = std::move(done.name);
  Texts texts = std::move(done.texts);
  done = {};
  return built_from(std::move(lowered), name, std::move(texts), options);
}

}  // namespace aoe::compiler
