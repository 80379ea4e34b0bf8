// fuse_open_activations: Relu, LeakyRelu or Clip, with channels last SiLU or HardSwish, behind a convolution of float32 over images whose sizes only a run can tell becomes one
// node with it, and so does Quantize behind a convolution of bytes. The native kernel applies it to what its cache has (native/kernels/convolution.cpp); map_slices, which comes next, would read
// and write all once more. Where sizes are known fuse_epilogues takes more.
#include <algorithm>

#include "graph/analysis/elementwise_group.h"
#include "graph/analysis/quantization.h"
#include "graph/passes.h"
#include "graph/rewrite.h"
#include "reference/windows/nhwc.h"

namespace aoe::graph {
namespace {

/// Of images of known sizes, as many as only a run can tell, map_slices makes parts of them for generated code.
bool has_open_image(const Graph& graph, const Node& node) {
  constexpr std::size_t kSpatial = 2, kImageRank = 4;
  const Shape& image = shape_of(graph, node.inputs[0]);
  return image.size() > kSpatial && image.size() <= kImageRank &&
         std::count(image.begin() + kSpatial, image.end(), kUnknownDim) > 0;
}

bool is_open_convolution(const Graph& graph, const Node& node, const char* type) {
  return !node.is_dead && is_type(node, type) && node.outputs.size() == 1 &&
         has_open_image(graph, node);
}

/// Of `value`; its bounds are known.
bool is_activation(const Graph& graph, const Node& node, ValueId value) {
  if (node.inputs.empty() || node.inputs[0] != value) return false;
  if (is_type(node, "Relu") || is_type(node, "LeakyRelu")) return true;
  return is_type(node, "ClipByValue") &&
         std::all_of(node.inputs.begin() + 1, node.inputs.end(), [&](ValueId bound) {
           return bound == kNone || graph.values[bound].constant != nullptr;
         });
}

/// HardSwish, or Sigmoid and what multiplies it, of `value`; nothing where others read it.
std::vector<NodeId> curve_behind(const Graph& graph, ValueId value) {
  const std::vector<NodeId>& readers = graph.consumers(value);
  if (graph.is_output(value) || readers.empty()) return {};
  if (readers.size() == 1 && is_type(graph.nodes[readers[0]], "HardSwish")) return {readers[0]};
  if (readers.size() != 2) return {};
  const std::size_t first = is_type(graph.nodes[readers[0]], "Sigmoid") ? 0 : 1;
  const Node &sigmoid = graph.nodes[readers[first]], &product = graph.nodes[readers[1 - first]];
  if (!is_type(sigmoid, "Sigmoid") || !is_type(product, "Mul") ||
      sole_consumer(graph, sigmoid.outputs[0]) != readers[1 - first])
    return {};
  return {readers[first], readers[1 - first]};
}

/// Depthwise, or a network's first: of the products of others no more than a pass over their results is saved.
bool takes_curves(const Node& node) {
  return is_type(node, "NhwcConv2D") &&
         (node.op.attrs.get_int("group", 1) > 1 || reference::reads_planes(node.op.attrs));
}

/// The activation behind a convolution of float32, or nothing.
std::vector<NodeId> steps_of_floats(const Graph& graph, const Node& node) {
  const bool has_channels_last = !node.is_dead && is_type(node, "NhwcConv2D");
  if (has_channels_last && takes_curves(node))
    if (std::vector<NodeId> curve = curve_behind(graph, node.outputs[0]); !curve.empty())
      return curve;
  if (!has_channels_last && (!is_open_convolution(graph, node, "Conv2D") ||
                             node.op.attrs.get_int("input_shuffle", 1) != 1 ||
                             dtype_of(graph, node.inputs[0]) != DataType::kFloat))
    return {};
  const NodeId next = sole_consumer(graph, node.outputs[0]);
  if (next == kNone || !is_activation(graph, graph.nodes[next], node.outputs[0])) return {};
  return {next};
}

/// By one scale, into bytes.
bool quantizes(const Graph& graph, const Node& node, ValueId value) {
  const auto is_one = [&](std::size_t i) {
    const ConstantPtr constant = constant_input(graph, node, i);
    return constant && element_count(constant->desc().shape) == 1;
  };
  return is_type(node, "Quantize") && node.inputs[0] == value && has_input(node, 2) && is_one(1) &&
         is_one(2) && is_byte(dtype_of(graph, node.outputs[0])) &&
         !node.op.attrs.has("output_dtype");
}

/// The Quantize behind a convolution of bytes, and an activation between them.
std::vector<NodeId> steps_of_bytes(const Graph& graph, const Node& node) {
  const bool has_channels_last = !node.is_dead && is_type(node, "NhwcQuantConv2D");
  if (!has_channels_last && !is_open_convolution(graph, node, "QuantConv2D")) return {};
  std::vector<NodeId> steps;
  ValueId value = node.outputs[0];
  NodeId next = sole_consumer(graph, value);
  if (next != kNone && !is_type(graph.nodes[next], "LeakyRelu") &&
      is_activation(graph, graph.nodes[next], value)) {
    steps.push_back(next);
    value = graph.nodes[next].outputs[0];
    next = sole_consumer(graph, value);
  }
  if (next == kNone || !quantizes(graph, graph.nodes[next], value)) return {};
  steps.push_back(next);
  return steps;
}

}  // namespace

bool fuse_open_activations(Graph& graph) {
  bool changed = false;
  for (const NodeId id : graph.topological_order()) {
    std::vector<NodeId> steps = steps_of_floats(graph, graph.nodes[id]);
    if (steps.empty()) steps = steps_of_bytes(graph, graph.nodes[id]);
    if (steps.empty()) continue;
    fuse_steps(graph, id, steps);
    changed = true;
  }
  return changed;
}

}  // namespace aoe::graph
