// Grouping parallel nodes and joining their weights.
#include "graph/analysis/parallel_nodes.h"

#include <algorithm>
#include <cstring>
#include <map>

#include "graph/rewrite.h"

namespace aoe::graph {

bool are_equal(const Constant& a, const Constant& b) {
  return a.desc() == b.desc() && std::memcmp(a.data(), b.data(), a.size_bytes()) == 0;
}

std::vector<std::vector<NodeId>> parallel_groups(
    const Graph& graph, const std::function<bool(const Node&)>& is_candidate,
    const std::function<bool(const std::vector<NodeId>&)>& can_join) {
  std::map<ValueId, std::vector<NodeId>> by_input;
  for (const NodeId id : graph.topological_order())
    if (is_candidate(graph.nodes[id])) by_input[graph.nodes[id].inputs[0]].push_back(id);
  std::vector<std::vector<NodeId>> groups;
  for (auto& [input, readers] : by_input) {
    while (readers.size() >= kFewestParallel) {
      std::vector<NodeId> group;
      std::erase_if(readers, [&](NodeId id) {
        group.push_back(id);
        if (group.size() == 1 || can_join(group)) return true;
        group.pop_back();
        return false;
      });
      if (group.size() >= kFewestParallel) groups.push_back(std::move(group));
    }
  }
  return groups;
}

ValueId joined_constants(Graph& graph, const std::vector<NodeId>& nodes, std::size_t i,
                         std::size_t axis) {
  struct Part {
    std::vector<double> values;
    std::size_t row;  // numbers behind each other before the next part has its turn
  };
  std::vector<Part> parts;
  Shape shape = shape_of(graph, graph.nodes[nodes[0]].inputs[i]);
  shape[axis] = 0;
  std::size_t rows = 1;
  for (std::size_t d = 0; d < axis; ++d) rows *= static_cast<std::size_t>(shape[d]);
  for (const NodeId id : nodes) {
    const ValueId input = graph.nodes[id].inputs[i];
    Part part{.values = to_doubles(*graph.values[input].constant)};
    part.row = part.values.size() / rows;
    parts.push_back(std::move(part));
    shape[axis] += shape_of(graph, input)[axis];
  }
  std::vector<double> values;
  for (std::size_t r = 0; r < rows; ++r)
    for (const Part& part : parts)
      values.insert(values.end(), part.values.begin() + static_cast<long>(r * part.row),
                    part.values.begin() + static_cast<long>((r + 1) * part.row));
  const std::string stem = graph.values[graph.nodes[nodes[0]].inputs[i]].name + "_joined";
  return add_floats(graph, stem, shape, values);
}

}  // namespace aoe::graph
