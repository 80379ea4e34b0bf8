// fuse_quantized: convolutions and matrix products of bytes become QuantConv2D and QuantMatMul: Dequantize -> Conv2D, Gemm
// or MatMulV2 with constant weights, in the QDQ form of models, or as expand_qlinear has left the QLinear form.
//
// The integers are summed up exactly, and what follows is float32: sums times one multiplier per channel, activations,
// Quantize. The scale of a Quantize behind activations that commute with it is part of the multiplier, as the QLinear
// form defines it; the QDQ form, taken by its letter, rounds more often, and differs by one step at some ties.
#include <algorithm>
#include <cmath>
#include <limits>

#include "graph/analysis/quantization.h"
#include "graph/passes.h"
#include "graph/rewrite.h"
#include "reference/tensors/widen.h"

namespace aoe::graph {
namespace {

/// A product of bytes with constant weights, before it is written down.
struct Product {
  std::string type;  ///< IR type of what it becomes
  reference::Attrs attrs;
  Bytes x, weight;
  std::int64_t outputs = 0;       ///< output channels, or columns
  std::vector<double> bias = {};  ///< real numbers; empty: none
};

std::vector<double> scales(const Product& p) {
  std::vector<double> all = p.weight.quantization.scale;
  for (double& scale : all) scale *= p.x.quantization.scale[0];
  return all;
}

/// One scale for the input; for the weights one, or one per output channel, which `axis` counts.
bool fits(const Graph& graph, const Product& p, std::int64_t axis) {
  const Quantization& weight = p.weight.quantization;
  return p.x.quantization.is_per_tensor() && graph.values[p.weight.value].constant &&
         (weight.is_per_tensor() || (weight.axis == axis && std::ssize(weight.scale) == p.outputs));
}

/// A bias of integers behind a Dequantize. Scales that are the steps of the sums, rounded, count as these, so that write_bias()
/// gets the same integers again.
bool read_whole_bias(const Graph& graph, const Node& dequantize, Product& p) {
  const ConstantPtr bias = constant_input(graph, dequantize, 0),
                    scale = constant_input(graph, dequantize, 1);
  if (!bias || !scale || bias->desc().shape != Shape{p.outputs} ||
      scale->desc().dtype != DataType::kFloat)
    return false;
  if (has_input(dequantize, 2)) {
    const ConstantPtr zero = constant_input(graph, dequantize, 2);
    if (!zero) return false;
    const auto zeros = reference::to_int64s(zero->view());
    if (std::ranges::any_of(zeros, [](std::int64_t z) { return z != 0; })) return false;
  }
  const auto whole = reference::to_int64s(bias->view());
  const std::vector<double> stated = to_doubles(*scale), steps = scales(p);
  if (stated.size() != 1 && stated.size() != whole.size()) return false;
  const auto at = [](const std::vector<double>& v, std::size_t i) {
    return v.size() == 1 ? v[0] : v[i];
  };
  for (std::size_t i = 0; i < whole.size(); ++i) {
    const bool is_step = at(stated, i) == static_cast<float>(at(steps, i));
    p.bias.push_back(static_cast<double>(whole[i]) * at(is_step ? steps : stated, i));
  }
  return true;
}

/// A bias that is one constant per output, whatever ones stand around them.
bool read_bias(const Graph& graph, ValueId value, Product& p) {
  const NodeId dequantize = producer_of_type(graph, value, "Dequantize");
  if (dequantize != kNone) return read_whole_bias(graph, graph.nodes[dequantize], p);
  const ConstantPtr constant = graph.values[value].constant;
  if (!constant || constant->desc().dtype != DataType::kFloat) return false;
  const Shape& shape = constant->desc().shape;
  const bool is_vector =
      !shape.empty() && shape.back() == p.outputs && element_count(shape) == p.outputs;
  if (!is_vector) return false;
  p.bias = to_doubles(*constant);
  return true;
}

/// A quantised bias counts in steps of the sums; a model's real one is rounded to them, as quantisers do.
bool write_bias(Graph& graph, const std::string& stem, const Product& p, ValueId& value) {
  if (p.bias.empty()) return true;
  const std::vector<double> steps = scales(p);
  std::vector<std::int32_t> whole;
  for (std::size_t i = 0; i < p.bias.size(); ++i) {
    const double number = std::nearbyint(p.bias[i] / steps[steps.size() == 1 ? 0 : i]);
    constexpr double kMost = 1 << 30;  // leaves the sums room
    if (!(std::abs(number) <= kMost)) return false;
    whole.push_back(static_cast<std::int32_t>(number));
  }
  const TensorDesc desc{.dtype = DataType::kInt32, .shape = {p.outputs}};
  value = add_constant(graph, stem + "_bias", std::make_shared<Constant>(desc, whole.data()));
  return true;
}

/// Activations behind `value`, each the only reader, up to a Quantize with one scale; empty when there is none.
std::vector<NodeId> path_to_quantize(const Graph& graph, ValueId value) {
  std::vector<NodeId> path;
  while (true) {
    const NodeId reader = sole_consumer(graph, value);
    if (reader == kNone) return {};
    const Node& node = graph.nodes[reader];
    path.push_back(reader);
    if (is_type(node, "Quantize")) {
      const auto q = quantization_of(graph, node);
      return q && q->is_per_tensor() ? path : std::vector<NodeId>();
    }
    const bool is_clip =
        is_type(node, "ClipByValue") && !node.op.attrs.has("min") && !node.op.attrs.has("max");
    const bool has_constant_bounds = std::ranges::all_of(node.inputs, [&](ValueId input) {
      return input == value || input == kNone || graph.values[input].constant;
    });
    if (!is_type(node, "Relu") && !(is_clip && has_constant_bounds)) return {};
    value = node.outputs[0];
  }
}

ValueId scaled_constant(Graph& graph, ValueId value, double divisor) {
  std::vector<double> values = to_doubles(*graph.values[value].constant);
  for (double& each : values) each /= divisor;
  const Shape shape = shape_of(graph, value);
  return add_floats(graph, graph.values[value].name + "_scaled", shape, values);
}

/// Divides what stands on the path by the Quantize's scale, and returns that.
double take_scale(Graph& graph, const std::vector<NodeId>& path) {
  if (path.empty()) return 1;
  const double scale = quantization_of(graph, graph.nodes[path.back()])->scale[0];
  for (const NodeId id : path) {
    if (!is_type(graph.nodes[id], "ClipByValue")) continue;
    for (std::size_t i = 1; i < graph.nodes[id].inputs.size(); ++i) {
      const ValueId bound = graph.nodes[id].inputs[i];
      if (bound != kNone) {
        const ValueId scaled = scaled_constant(graph, bound, scale);
        graph.edit(id)->inputs[i] = scaled;
      }
    }
  }
  const ValueId one = add_floats(graph, graph.nodes[path.back()].name + "_scale", {}, {1});
  graph.edit(path.back())->inputs[1] = one;
  return scale;
}

/// Puts the product in the place of `old`, the last of which gives its value out.
bool replace(Graph& graph, const std::vector<NodeId>& old, const Product& p) {
  const std::string stem = graph.nodes[old.front()].name;
  const ValueId output = graph.nodes[old.back()].outputs[0];
  ValueId bias = kNone;
  if (!write_bias(graph, stem, p, bias)) return false;
  std::vector<double> multiplier = scales(p);
  const std::vector<NodeId> path = path_to_quantize(graph, output);
  const double divisor = take_scale(graph, path);
  for (double& each : multiplier) each /= divisor;
  const ValueId factors = add_floats(graph, stem + "_multiplier",
                                     {static_cast<std::int64_t>(multiplier.size())}, multiplier);
  replace_nodes(graph, old,
                {.op = call_of(p.type, p.attrs),
                 .inputs = {p.x.value, p.weight.value, bias, p.x.quantization.zero_value,
                            p.weight.quantization.zero_value, factors},
                 .outputs = {output}});
  return true;
}

/// Inputs 0 and 1 as bytes; nothing when they are not.
std::optional<Product> product_of(const Graph& graph, const Node& node, const std::string& type) {
  const auto x = bytes_behind(graph, node.inputs[0]), w = bytes_behind(graph, node.inputs[1]);
  if (!x || !w || !is_static(shape_of(graph, node.inputs[1]))) return {};
  return Product{.type = type, .attrs = {}, .x = *x, .weight = *w};
}

/// Of images whose sizes only a run can tell: what kernel there is multiplies all outputs of a group with what a window reads, or each
/// channel by itself.
bool has_few_outputs(const Graph& graph, const Node& node) {
  constexpr std::int64_t kLeast = 4;
  const Shape& weight = shape_of(graph, node.inputs[1]);
  return !is_static(shape_of(graph, node.outputs[0])) && weight[1] != 1 &&
         weight[0] < kLeast * node.op.attrs.get_int("group", 1);
}

bool fuse_conv(Graph& graph, NodeId id) {
  const Node& node = graph.nodes[id];
  auto p = product_of(graph, node, "QuantConv2D");
  // Images, and sequences, which widen_sequences makes images.
  const std::size_t rank = shape_of(graph, node.inputs[1]).size();
  if (!p || (rank != 3 && rank != 4)) return false;
  p->attrs = node.op.attrs;
  p->outputs = shape_of(graph, node.inputs[1])[0];
  if (!fits(graph, *p, 0) || has_few_outputs(graph, node)) return false;
  if (has_input(node, 2) && !read_bias(graph, node.inputs[2], *p)) return false;
  return replace(graph, {id}, *p);
}

bool fuse_gemm(Graph& graph, NodeId id) {
  const Node& node = graph.nodes[id];
  const reference::Attrs& attrs = node.op.attrs;
  auto p = product_of(graph, node, "QuantMatMul");
  const bool is_plain = attrs.get_int("transA", 0) == 0 && attrs.get_float("alpha", 1) == 1 &&
                        (!has_input(node, 2) || attrs.get_float("beta", 1) == 1);
  if (!p || !is_plain) return false;
  const std::int64_t axis = attrs.get_int("transB", 0) != 0 ? 0 : 1;
  if (axis == 0) p->attrs.set("transB", std::int64_t{1});
  p->outputs = shape_of(graph, node.inputs[1])[static_cast<std::size_t>(axis)];
  if (!fits(graph, *p, axis)) return false;
  if (has_input(node, 2) && !read_bias(graph, node.inputs[2], *p)) return false;
  return replace(graph, {id}, *p);
}

/// With an Add behind it that is a bias.
bool fuse_matmul(Graph& graph, NodeId id) {
  const Node& node = graph.nodes[id];
  auto p = product_of(graph, node, "QuantMatMul");
  if (!p || shape_of(graph, node.inputs[1]).size() != 2) return false;
  p->outputs = shape_of(graph, node.inputs[1]).back();
  if (!fits(graph, *p, 1)) return false;
  const ValueId product = node.outputs[0];
  const NodeId add = sole_consumer(graph, product);
  if (add != kNone && is_type(graph.nodes[add], "Add")) {
    const std::vector<ValueId>& terms = graph.nodes[add].inputs;
    const ValueId other = terms[0] == product ? terms[1] : terms[0];
    const bool keeps_shape =
        shape_of(graph, graph.nodes[add].outputs[0]) == shape_of(graph, product);
    if (keeps_shape && read_bias(graph, other, *p)) return replace(graph, {id, add}, *p);
  }
  return replace(graph, {id}, *p);
}

/// Steps of an epilogue have no absent operands.
bool name_zero_point(Graph& graph, NodeId id) {
  const Node& node = graph.nodes[id];
  if (!is_type(node, "Quantize") || has_input(node, 2)) return false;
  const DataType dtype = dtype_of(graph, node.outputs[0]);
  if (!is_byte(dtype)) return false;
  const Constant zero({.dtype = dtype, .shape = {}});
  const ValueId value = add_constant(graph, node.name + "_zero",
                                     std::make_shared<Constant>(zero.desc(), zero.data()));
  graph.edit(id)->inputs.resize(2);
  graph.edit(id)->inputs.push_back(value);
  return true;
}

}  // namespace

bool fuse_quantized(Graph& graph) {
  bool changed = false;
  for (const NodeId id : graph.topological_order()) changed |= name_zero_point(graph, id);
  for (const NodeId id : graph.topological_order()) {
    const Node& node = graph.nodes[id];
    if (is_type(node, "Conv2D")) changed |= fuse_conv(graph, id);
    if (is_type(node, "Gemm")) changed |= fuse_gemm(graph, id);
    if (is_type(node, "MatMulV2")) changed |= fuse_matmul(graph, id);
  }
  return changed;
}

}  // namespace aoe::graph
