// See quantization.h.
#include "graph/analysis/quantization.h"

#include "graph/rewrite.h"
#include "reference/tensors/widen.h"

namespace aoe::graph {
namespace {

std::vector<std::int64_t> zeros(const Graph& graph, const Quantization& q) {
  if (q.zero_value == kNone) return {0};
  return reference::to_int64s(graph.values[q.zero_value].constant->view());
}

}  // namespace

std::optional<Quantization> quantization_of(const Graph& graph, const Node& node) {
  const bool is_quantize = is_type(node, "Quantize");
  if (!is_quantize && !is_type(node, "Dequantize")) return {};
  const ValueId bytes = is_quantize ? node.outputs[0] : node.inputs[0];
  const ConstantPtr scale = constant_input(graph, node, 1);
  if (!is_byte(dtype_of(graph, bytes)) || !scale) return {};
  if (scale->desc().dtype != DataType::kFloat || scale->desc().shape.size() > 1) return {};
  Quantization q{.scale = to_doubles(*scale), .scale_value = node.inputs[1]};
  q.axis = node.op.attrs.get_int("axis", 1);
  if (q.axis < 0) q.axis += static_cast<std::int64_t>(shape_of(graph, bytes).size());
  if (has_input(node, 2)) {
    if (!constant_input(graph, node, 2)) return {};
    q.zero_value = node.inputs[2];
  }
  return q;
}

std::optional<Bytes> bytes_behind(const Graph& graph, ValueId value) {
  const NodeId producer = producer_of_type(graph, value, "Dequantize");
  if (producer == kNone) return {};
  const auto q = quantization_of(graph, graph.nodes[producer]);
  if (!q) return {};
  return Bytes{graph.nodes[producer].inputs[0], *q};
}

bool is_same(const Graph& graph, const Quantization& a, const Quantization& b) {
  return a.scale == b.scale && (a.is_per_tensor() || a.axis == b.axis) &&
         zeros(graph, a) == zeros(graph, b);
}

}  // namespace aoe::graph
