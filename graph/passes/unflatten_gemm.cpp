// unflatten_gemm: a Reshape to rows, a Gemm and the Reshape back (how exporters write a linear layer
// on more than two dimensions as a Gemm) become MatMul and Add, so that what follows can join them.
#include "graph/passes.h"
#include "graph/rewrite.h"

namespace aoe::graph {
namespace {

bool is_plain_product(const Graph& graph, const Node& node) {
  if (!is_type(node, "Gemm")) return false;
  const reference::Attrs& attrs = node.op.attrs;
  if (attrs.get_int("transA", 0) != 0 || attrs.get_int("transB", 0) != 0) return false;
  if (attrs.get_float("alpha", 1) != 1 || attrs.get_float("beta", 1) != 1) return false;
  // A bias per column; of one per row the rows would have to be taken apart.
  return !has_input(node, 2) || shape_of(graph, node.inputs[2]).size() <= 1;
}

/// Whether `wide` is `flat` with its rows spread over more dimensions.
bool unfolds(const Shape& flat, const Shape& wide) {
  return is_static(wide) && flat.size() == 2 && wide.size() > 2 && wide.back() == flat.back() &&
         element_count(wide) == element_count(flat);
}

bool same_rows(const Shape& a, const Shape& b) {
  return a.size() == b.size() && std::equal(a.begin(), a.end() - 1, b.begin());
}

bool unflatten_gemm_at(Graph& graph, NodeId id) {
  const Node gemm = graph.nodes[id];
  if (!is_plain_product(graph, gemm)) return false;
  const NodeId before = producer_of_type(graph, gemm.inputs[0], "Reshape");
  const NodeId after = sole_consumer(graph, gemm.outputs[0]);
  if (before == kNone || after == kNone || !is_type(graph.nodes[after], "Reshape")) return false;
  if (graph.nodes[after].inputs[0] != gemm.outputs[0]) return false;
  const ValueId x = graph.nodes[before].inputs[0], y = graph.nodes[after].outputs[0];
  const Shape& in = shape_of(graph, x);
  const Shape& out = shape_of(graph, y);
  if (!unfolds(shape_of(graph, gemm.inputs[0]), in) ||
      !unfolds(shape_of(graph, gemm.outputs[0]), out) || !same_rows(in, out))
    return false;
  Node product{
      .name = gemm.name, .op = call_of("MatMulV2"), .inputs = {x, gemm.inputs[1]}, .outputs = {y}};
  if (!has_input(gemm, 2)) {
    replace_nodes(graph, {id, after}, std::move(product));
    return true;
  }
  const Node last = graph.nodes[after];
  product.outputs = {add_intermediate(graph, gemm.name + "_product", graph.values[y].desc)};
  const ValueId sum_input = product.outputs[0];
  replace_nodes(graph, {id}, std::move(product));
  replace_nodes(graph, {after},
                {.name = last.name,
                 .op = call_of("Add"),
                 .inputs = {sum_input, gemm.inputs[2]},
                 .outputs = {y}});
  return true;
}

}  // namespace

bool unflatten_gemm(Graph& graph) {
  bool changed = false;
  for (const NodeId id : graph.topological_order()) changed |= unflatten_gemm_at(graph, id);
  return changed;
}

}  // namespace aoe::graph
