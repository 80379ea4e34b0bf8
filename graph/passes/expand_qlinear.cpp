// expand_qlinear: QLinearConv and QLinearMatMul become what they stand for: Dequantize, a product in float32, Quantize.
// fuse_quantized makes kernels of bytes of that form where scales and weights are constant; what it leaves runs in float32.
#include <algorithm>
#include <array>

#include "graph/analysis/quantization.h"
#include "graph/passes.h"
#include "graph/rewrite.h"

namespace aoe::graph {
namespace {

/// Where QLinearConv and QLinearMatMul have their inputs; a scale and a zero point follow the first two.
enum QLinearInput : std::size_t { kQLinearX = 0, kQLinearWeight = 3, kOutputScale = 6, kBias = 8 };

/// Scale and zero point behind input `first`: one, or, where allowed, one per output.
bool has_scale(const Graph& graph, const Node& node, std::size_t first, bool allows_many) {
  const TensorDesc &scale = graph.values[node.inputs[first]].desc,
                   &zero = graph.values[node.inputs[first + 1]].desc;
  if (scale.dtype != DataType::kFloat) return false;
  return std::ranges::all_of(std::array{&scale, &zero}, [&](const TensorDesc* each) {
    return each->shape.size() <= 1 && is_static(each->shape) &&
           (allows_many || element_count(each->shape) == 1);
  });
}

bool is_expandable(const Graph& graph, const Node& node) {
  const bool is_conv = is_type(node, "QLinearConv");
  if (!is_conv && !is_type(node, "QLinearMatMul")) return false;
  const bool has_outputs = is_conv || shape_of(graph, node.inputs[kQLinearWeight]).size() == 2;
  return has_scale(graph, node, kQLinearX + 1, false) &&
         has_scale(graph, node, kQLinearWeight + 1, has_outputs) &&
         has_scale(graph, node, kOutputScale, false);
}

class QLinearExpansion {
 public:
  QLinearExpansion(Graph& graph, NodeId id) : graph_(graph), node_(graph.nodes[id]) {
    graph_.remove_node(id);
  }

  void write() {
    const bool is_conv = node_.op.type == "QLinearConv";
    const std::int64_t axis = is_conv ? 0 : 1;  // of the outputs in the weights
    std::vector<ValueId> factors = {
        dequantize("_dequantize_x", node_.inputs[kQLinearX], node_.inputs[kQLinearX + 1],
                   node_.inputs[kQLinearX + 2], 1),
        dequantize("_dequantize_weight", node_.inputs[kQLinearWeight],
                   node_.inputs[kQLinearWeight + 1], node_.inputs[kQLinearWeight + 2], axis)};
    if (has_input(node_, kBias))
      factors.push_back(
          dequantize("_dequantize_bias", node_.inputs[kBias], steps_of_sums(), kNone, 0));
    const ValueId real = add_real("_real", shape_of(graph_, node_.outputs[0]));
    add_node("", call_of(is_conv ? "Conv2D" : "MatMulV2", node_.op.attrs), factors, real);
    add_node("_quantize", call_of("Quantize"),
             {real, node_.inputs[kOutputScale], node_.inputs[kOutputScale + 1]}, node_.outputs[0]);
  }

 private:
  /// The bias counts in these.
  ValueId steps_of_sums() {
    const std::vector<ValueId> scales = {node_.inputs[kQLinearX + 1],
                                         node_.inputs[kQLinearWeight + 1]};
    const ConstantPtr x = graph_.values[scales[0]].constant,
                      weight = graph_.values[scales[1]].constant;
    if (x && weight) {
      std::vector<double> steps = to_doubles(*weight);
      for (double& step : steps) step *= to_doubles(*x)[0];
      return add_floats(graph_, node_.name + "_steps", {std::ssize(steps)}, steps);
    }
    const bool is_one = shape_of(graph_, scales[1]).empty();
    const ValueId steps = add_real("_steps", shape_of(graph_, scales[is_one ? 0 : 1]));
    add_node("_multiply_scales", call_of("Mul"), scales, steps);
    return steps;
  }

  ValueId dequantize(const std::string& suffix, ValueId value, ValueId scale, ValueId zero,
                     std::int64_t axis) {
    const ValueId real = add_real(suffix, shape_of(graph_, value));
    reference::Attrs attrs;
    attrs.set("axis", axis);
    std::vector<ValueId> inputs = {value, scale};
    if (zero != kNone) inputs.push_back(zero);
    add_node(suffix, call_of("Dequantize", attrs), inputs, real);
    return real;
  }

  ValueId add_real(const std::string& suffix, const Shape& shape) {
    return add_intermediate(graph_, node_.name + suffix,
                            {.dtype = DataType::kFloat, .shape = shape});
  }

  void add_node(const std::string& suffix, const reference::OpCall& op,
                const std::vector<ValueId>& inputs, ValueId output) {
    graph_.add_node({.name = node_.name + suffix,
                     .op = op,
                     .inputs = inputs,
                     .outputs = {output},
                     .origins = node_.origins});
  }

  Graph& graph_;
  Node node_;  ///< as it was
};

}  // namespace

bool expand_qlinear(Graph& graph) {
  bool changed = false;
  for (const NodeId id : graph.topological_order()) {
    if (!is_expandable(graph, graph.nodes[id])) continue;
    QLinearExpansion(graph, id).write();
    changed = true;
  }
  return changed;
}

}  // namespace aoe::graph
