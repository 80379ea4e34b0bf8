// fuse_dynamic_quantized: MatMulInteger and ConvInteger with constant weights whose sums become float32, as dynamic
// quantisation writes them (DynamicQuantizeLinear -> ConvInteger -> Cast -> Mul -> Add), become QuantMatMul and QuantConv2D with a
// computed zero point and a multiplier of one: what follows, the computed scale first, is their epilogue.
#include "graph/analysis/quantization.h"
#include "graph/passes.h"
#include "graph/rewrite.h"

namespace aoe::graph {
namespace {

using namespace integer_product;

bool is_constant_or_absent(const Graph& graph, const Node& node, std::size_t input) {
  return !has_input(node, input) || constant_input(graph, node, input);
}

/// Images, sequences, which widen_sequences makes images, and matrices.
bool has_kernels(const Graph& graph, const Node& node) {
  const bool is_convolution = is_type(node, "ConvInteger");
  if (!is_convolution && !is_type(node, "MatMulInteger")) return false;
  const std::size_t rank = shape_of(graph, node.inputs[kWeight]).size();
  return is_convolution ? rank == 3 || rank == 4 : rank == 2;
}

bool has_one_zero_point(const Graph& graph, const Node& node) {
  if (!has_input(node, kXZero)) return true;
  const Shape& shape = shape_of(graph, node.inputs[kXZero]);
  return is_static(shape) && element_count(shape) == 1;
}

/// The Cast behind the sums, if that is what they are made for.
NodeId cast_to_float(const Graph& graph, const Node& node) {
  const NodeId reader = sole_consumer(graph, node.outputs[0]);
  const bool is_cast = reader != kNone && is_type(graph.nodes[reader], "Cast") &&
                       dtype_of(graph, graph.nodes[reader].outputs[0]) == DataType::kFloat;
  return is_cast ? reader : kNone;
}

bool fuse_dynamic(Graph& graph, NodeId id) {
  const Node& node = graph.nodes[id];
  if (!has_kernels(graph, node) || !is_static(shape_of(graph, node.outputs[0])) ||
      !constant_input(graph, node, kWeight) || !is_constant_or_absent(graph, node, kWeightZero) ||
      !has_one_zero_point(graph, node))
    return false;
  const NodeId cast = cast_to_float(graph, node);
  if (cast == kNone) return false;
  const auto input = [&](std::size_t i) { return has_input(node, i) ? node.inputs[i] : kNone; };
  std::vector<ValueId> inputs = {input(kX),     input(kWeight),     kNone,
                                 input(kXZero), input(kWeightZero), kNone};
  const bool is_product = is_type(node, "MatMulInteger");
  reference::Attrs attrs = node.op.attrs;
  const ValueId output = graph.nodes[cast].outputs[0];
  inputs.back() = add_floats(graph, node.name + "_multiplier", {1}, {1});
  replace_nodes(graph, {id, cast},
                {.op = call_of(is_product ? "QuantMatMul" : "QuantConv2D", std::move(attrs)),
                 .inputs = std::move(inputs),
                 .outputs = {output}});
  return true;
}

}  // namespace

bool fuse_dynamic_quantized(Graph& graph) {
  bool changed = false;
  for (const NodeId id : graph.topological_order()) changed |= fuse_dynamic(graph, id);
  return changed;
}

}  // namespace aoe::graph
