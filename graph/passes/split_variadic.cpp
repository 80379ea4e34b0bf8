// split_variadic: Sum of several tensors becomes a chain of Add, so that every later stage knows
// one kind of addition.
#include "graph/passes.h"
#include "graph/rewrite.h"

namespace aoe::graph {
namespace {

TensorDesc add_desc(const Graph& graph, ValueId a, ValueId b) {
  const Tensor inputs[] = {{graph.values[a].desc, nullptr}, {graph.values[b].desc, nullptr}};
  return reference::infer(call_of("Add"), inputs, 1)[0];
}

bool split(Graph& graph, NodeId id) {
  if (!is_type(graph.nodes[id], "AddN") || graph.nodes[id].inputs.size() < 2) return false;
  const Node sum = graph.nodes[id];
  ValueId total = sum.inputs[0];
  for (std::size_t i = 1; i + 1 < sum.inputs.size(); ++i) {
    const std::string name = sum.name + "_" + std::to_string(i);
    const ValueId part = add_intermediate(graph, name, add_desc(graph, total, sum.inputs[i]));
    graph.add_node({.name = name,
                    .op = call_of("Add"),
                    .inputs = {total, sum.inputs[i]},
                    .outputs = {part},
                    .origins = sum.origins});
    total = part;
  }
  graph.edit(id)->op = call_of("Add");
  graph.edit(id)->inputs = {total, sum.inputs.back()};
  return true;
}

}  // namespace

bool split_variadic(Graph& graph) {
  bool changed = false;
  for (const NodeId id : graph.topological_order()) changed |= split(graph, id);
  return changed;
}

}  // namespace aoe::graph
