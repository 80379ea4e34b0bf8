// See pieces.h.
#include "graph/pieces.h"

#include <algorithm>

#include "base/check.h"
#include "graph/rewrite.h"

namespace aoe::graph {

bool gives_one_result(const Node& node) {
  return std::ranges::count(node.outputs, kNone) + 1 == std::ssize(node.outputs) &&
         node.outputs[0] != kNone;
}

Pieces::Pieces(Graph& graph, NodeId whole) : graph_(graph), whole_(graph.nodes[whole]) {
  AOE_CHECK(gives_one_result(whole_), whole_.name);
  graph.remove_node(whole);
}

ValueId Pieces::add(const std::string& what, reference::OpCall op, std::vector<ValueId> inputs,
                    Shape shape) {
  const ValueId result = add_intermediate(graph_, whole_.name + "_" + what,
                                          {.dtype = DataType::kFloat, .shape = std::move(shape)});
  graph_.add_node({.name = graph_.values[result].name,
                   .op = std::move(op),
                   .inputs = std::move(inputs),
                   .outputs = {result},
                   .origins = whole_.origins});
  return result;
}

void Pieces::finish(ValueId last) {
  const NodeId id = graph_.values[last].producer;
  AOE_CHECK(id != kNone && graph_.consumers(last).empty(), graph_.values[last].name);
  graph_.values[last].producer = kNone;
  graph_.values[whole_.outputs[0]].producer = id;
  graph_.nodes[id].outputs = {whole_.outputs[0]};
  graph_.nodes[id].name = whole_.name;
}

}  // namespace aoe::graph
