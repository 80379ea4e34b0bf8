// turn_short_softmax: a softmax over a few neighbouring elements (the two classes of a detector's
// boxes) is computed with its axis outermost: vectors then run over the many boxes instead of the
// few classes, at the price of two transpositions.
#include <algorithm>
#include <numeric>

#include "graph/rewrite.h"
#include "graph/rewrite_plan.h"

namespace aoe::graph {
namespace {

constexpr std::int64_t kShort = 8;
constexpr std::int64_t kMany = 512;  ///< softmaxes; fewer take less than the transpositions

bool is_short_softmax(const Graph& graph, const Node& node) {
  if (node.is_dead || !is_type(node, "SoftmaxV2") || node.outputs.size() != 1) return false;
  const TensorDesc& desc = graph.values[node.outputs[0]].desc;
  if (desc.dtype != DataType::kFloat || !is_static(desc.shape) || desc.shape.size() < 2)
    return false;
  constexpr int kSingleAxisVersion = 13;
  const auto rank = static_cast<std::int64_t>(desc.shape.size());
  const std::int64_t axis =
      node.op.attrs.get_int("axis", node.op.version >= kSingleAxisVersion ? -1 : 1);
  // Before version 13 all axes from this one on count as one.
  return (axis == -1 || axis == rank - 1) && desc.shape.back() <= kShort && desc.shape.back() > 1;
}

std::vector<Place> find(const Graph& graph) {
  std::vector<Place> places;
  for (const NodeId id : graph.topological_order()) {
    const Node& node = graph.nodes[id];
    if (!is_short_softmax(graph, node)) continue;
    const Shape& shape = shape_of(graph, node.outputs[0]);
    const bool are_many = element_count(shape) / shape.back() >= kMany;
    places.push_back({.nodes = {id}, .expected_share = are_many ? 0.5 : 0});
  }
  return places;
}

ValueId transposed(Graph& graph, const std::string& name, ValueId from,
                   const std::vector<std::int64_t>& perm, ValueId to) {
  reference::Attrs attrs;
  attrs.set("perm", perm);
  graph.add_node(
      {.name = name, .op = call_of("Transpose", attrs), .inputs = {from}, .outputs = {to}});
  return to;
}

Result<void> apply(Graph& graph, const std::vector<NodeId>& nodes, const RewriteParams&) {
  if (nodes.size() != 1 || !is_short_softmax(graph, graph.nodes[nodes[0]]))
    return Unexpected("no softmax over a short last axis");
  const Node old = graph.nodes[nodes[0]];
  TensorDesc turned = graph.values[old.outputs[0]].desc;
  std::ranges::rotate(turned.shape, std::prev(turned.shape.end()));
  std::vector<std::int64_t> forth(turned.shape.size());
  std::iota(forth.begin(), forth.end(), std::int64_t{0});
  std::vector<std::int64_t> back = forth;
  std::ranges::rotate(forth, std::prev(forth.end()));
  std::ranges::rotate(back, std::next(back.begin()));
  graph.remove_node(nodes[0]);
  const std::string stem = graph.values[old.outputs[0]].name;
  const ValueId x = transposed(graph, old.name + "_turned", old.inputs[0], forth,
                               add_intermediate(graph, stem + "_turned", turned));
  reference::Attrs attrs;
  attrs.set("axis", std::int64_t{0});
  const ValueId y = add_intermediate(graph, stem + "_softmax", turned);
  graph.add_node({.name = old.name + "_softmax",
                  .op = call_of("SoftmaxV2", attrs),
                  .inputs = {x},
                  .outputs = {y},
                  .origins = old.origins});
  transposed(graph, old.name + "_back", y, back, old.outputs[0]);
  return {};
}

}  // namespace

void register_turn_short_softmax(RewriteRegistry& registry) {
  registry.add({.kind = "turn_short_softmax", .version = 1, .find = find, .apply = apply});
}

}  // namespace aoe::graph
