// settle_reshapes: a Reshape whose result lacks only one dimension takes it from the number of its elements (-1), not from a shape
// that the model computes when it runs.
#include <algorithm>

#include "graph/analysis/slice_lengths.h"
#include "graph/passes.h"
#include "graph/rewrite.h"

namespace aoe::graph {

bool settle_reshapes(Graph& graph) {
  bool changed = false;
  for (const NodeId id : graph.topological_order()) {
    const Node& node = graph.nodes[id];
    if (!is_type(node, "Reshape") || graph.values[node.inputs[1]].constant) continue;
    const Shape& shape = shape_of(graph, node.outputs[0]);
    if (!sliced_axis(graph.values[node.outputs[0]].desc, {})) continue;
    const ValueId asked = add_ints(graph, graph.values[node.outputs[0]].name + "_shape", shape);
    graph.edit(id)->inputs[1] = asked;
    changed = true;
  }
  return changed;
}

}  // namespace aoe::graph
