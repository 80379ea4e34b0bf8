// drop_saturated_clips: a Relu or ClipByValue in front of a Quantize whose bytes end at its bounds, or between them, changes none of
// these, and goes.
#include <cmath>
#include <limits>

#include "graph/analysis/quantization.h"
#include "graph/passes.h"
#include "graph/rewrite.h"
#include "reference/tensors/quantize.h"
#include "reference/tensors/widen.h"

namespace aoe::graph {
namespace {

struct Bounds {
  double low = -std::numeric_limits<double>::infinity();
  double high = std::numeric_limits<double>::infinity();
};

/// Of a Relu, or of a ClipByValue that says them by constants.
std::optional<Bounds> bounds_of(const Graph& graph, const Node& node) {
  if (is_type(node, "Relu")) return Bounds{.low = 0};
  if (!is_type(node, "ClipByValue") || node.op.attrs.has("min") || node.op.attrs.has("max"))
    return {};
  Bounds bounds;
  for (std::size_t i = 1; i < node.inputs.size(); ++i) {
    if (!has_input(node, i)) continue;
    const auto bound = constant_input(graph, node, i);
    if (!bound || bound->desc().shape.size() > 1) return {};
    (i == 1 ? bounds.low : bounds.high) = to_doubles(*bound)[0];
  }
  return bounds;
}

/// The least and the largest byte that a Quantize can give, less its zero point.
Bounds byte_bounds(const Graph& graph, const Node& quantize, const Quantization& q) {
  const reference::QuantRange range = reference::quant_range(dtype_of(graph, quantize.outputs[0]));
  const double zero = q.zero_value == kNone ? 0
                                            : static_cast<double>(reference::to_int64s(
                                                  graph.values[q.zero_value].constant->view())[0]);
  return {.low = range.min - zero, .high = range.max - zero};
}

bool saturates_as_well(const Graph& graph, const Node& clip, const Node& quantize) {
  const auto bounds = bounds_of(graph, clip);
  const auto q = quantization_of(graph, quantize);
  if (!bounds || !q || !q->is_per_tensor()) return false;
  const Bounds bytes = byte_bounds(graph, quantize, *q);
  const double scale = q->scale[0];
  return std::nearbyint(bounds->low / scale) <= bytes.low &&
         std::nearbyint(bounds->high / scale) >= bytes.high;
}

}  // namespace

bool drop_saturated_clips(Graph& graph) {
  bool has_changed = false;
  for (const NodeId id : graph.topological_order()) {
    if (!is_type(graph.nodes[id], "Quantize")) continue;
    while (true) {
      const NodeId clip = graph.values[graph.nodes[id].inputs[0]].producer;
      if (clip == kNone || sole_consumer(graph, graph.nodes[clip].outputs[0]) != id ||
          !saturates_as_well(graph, graph.nodes[clip], graph.nodes[id]) ||
          !bypass(graph, clip, graph.nodes[clip].inputs[0]))
        break;
      has_changed = true;
    }
  }
  return has_changed;
}

}  // namespace aoe::graph
