// fuse_open_activations: Relu, LeakyRelu or Clip behind a convolution of float32 over images whose sizes only a run can tell becomes one
// node with it. The native kernel applies it to what its cache has (native/kernels/convolution.cpp); map_slices, which comes next, would read
// and write all once more. Where sizes are known fuse_epilogues takes more.
#include <algorithm>

#include "graph/analysis/elementwise_group.h"
#include "graph/passes.h"
#include "graph/rewrite.h"

namespace aoe::graph {
namespace {

/// Of images of known sizes, as many as only a run can tell, map_slices makes parts of them for generated code.
bool is_open_convolution(const Graph& graph, const Node& node) {
  constexpr std::size_t kSpatial = 2, kImageRank = 4;
  if (node.is_dead || node.outputs.size() != 1) return false;
  if (is_type(node, "NhwcConv2D")) return true;
  if (!is_type(node, "Conv2D")) return false;
  const Shape& image = shape_of(graph, node.inputs[0]);
  return node.op.attrs.get_int("input_shuffle", 1) == 1 &&
         dtype_of(graph, node.inputs[0]) == DataType::kFloat && image.size() > kSpatial &&
         image.size() <= kImageRank &&
         std::count(image.begin() + kSpatial, image.end(), kUnknownDim) > 0;
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

}  // namespace

bool fuse_open_activations(Graph& graph) {
  bool changed = false;
  for (const NodeId id : graph.topological_order()) {
    if (!is_open_convolution(graph, graph.nodes[id])) continue;
    const ValueId result = graph.nodes[id].outputs[0];
    const NodeId next = sole_consumer(graph, result);
    if (next == kNone || !is_activation(graph, graph.nodes[next], result)) continue;
    fuse_steps(graph, id, {next});
    changed = true;
  }
  return changed;
}

}  // namespace aoe::graph
