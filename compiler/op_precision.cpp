// Selections of operators, applied to graphs.
#include "compiler/op_precision.h"

#include <algorithm>

#include "base/log.h"
#include "graph/precision.h"

namespace aoe::compiler {
namespace {

bool is_meant(const graph::Node& node, const OpPrecision::Selection& selection) {
  const auto is_named = [&](const std::set<std::string>& names) {
    return names.contains(node.name) || std::ranges::any_of(node.origins, [&](const auto& name) {
             return names.contains(name);
           });
  };
  if (is_named(selection.names)) return true;
  const std::string& type = reference::anchor(node.op).type;
  if (is_named(selection.other_names) || selection.other_types.contains(type)) return false;
  return selection.all || selection.types.contains(type);
}

void warn_of_missing(const std::set<std::string>& names, const graph::Graph& graph) {
  for (const std::string& name : names) {
    const bool is_there = std::ranges::any_of(graph.nodes, [&](const graph::Node& node) {
      return node.name == name || std::ranges::find(node.origins, name) != node.origins.end();
    });
    if (!is_there)
      logger("compiler")
          ->warn("no operator is named '{}' behind the passes, its precision mode has no effect",
                 name);
  }
}

}  // namespace

void ask_high_precision(graph::Graph& graph, const OpPrecision& precision) {
  for (const graph::NodeId id : graph.topological_order())
    if (graph::has_faster_sums(graph.nodes[id].op) && is_meant(graph.nodes[id], precision.high))
      graph::ask_high_precision(*graph.edit(id));
}

std::set<std::string> names_kept(const graph::Graph& graph, const OpPrecision& precision) {
  std::set<std::string> names;
  for (const graph::Node& node : graph.nodes)
    if (!node.is_dead && (is_meant(node, precision.high) || is_meant(node, precision.kept)))
      names.insert(node.name);
  return names;
}

void keep_dtypes(graph::Graph& graph, const OpPrecision& precision) {
  for (const graph::NodeId id : graph.topological_order())
    if (graph::has_faster_sums(graph.nodes[id].op) && is_meant(graph.nodes[id], precision.kept))
      graph::keep_dtype(*graph.edit(id));
}

void warn_of_missing(const graph::Graph& graph, const OpPrecision& precision) {
  warn_of_missing(precision.high.names, graph);
  warn_of_missing(precision.kept.names, graph);
}

}  // namespace aoe::compiler
