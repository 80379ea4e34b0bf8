// fuse_layer_norm: layer normalisation as exporters without the operator write it becomes
// LayerNorm.
//
//   mean = ReduceMean(x)   d = Sub(x, mean)   variance = ReduceMean(Pow(d, 2) or Mul(d, d))
//   y = Div(d, Sqrt(Add(variance, epsilon)))   [* gamma]   [+ beta]
#include <algorithm>
#include <optional>

#include "graph/passes.h"
#include "graph/rewrite.h"

namespace aoe::graph {
namespace {

struct Match {
  ValueId x = kNone, gamma = kNone, beta = kNone;
  double epsilon = 0;
  std::int64_t axis = 0;
  std::vector<NodeId> nodes;  ///< in the model's order
};

/// The first of the axes that a ReduceMean takes when these are the last ones and stay as 1;
/// nothing otherwise.
std::optional<std::int64_t> trailing_axis(const Graph& graph, const Node& mean) {
  const auto rank = static_cast<std::int64_t>(shape_of(graph, mean.inputs[0]).size());
  std::vector<std::int64_t> axes;
  if (mean.op.attrs.get_int("keepdims", 1) == 0 || !ints_of(graph, mean, "axes", 1, axes) ||
      axes.empty())
    return std::nullopt;
  for (std::int64_t& axis : axes)
    if (axis < 0) axis += rank;
  std::ranges::sort(axes);
  for (std::size_t i = 0; i < axes.size(); ++i)
    if (axes[i] != rank - static_cast<std::int64_t>(axes.size() - i)) return std::nullopt;
  return axes[0];
}

/// The operand of a commutative binary node that is a scalar constant, and the other one.
bool split_scalar(const Graph& graph, const Node& node, double& scalar, ValueId& other) {
  for (std::size_t i = 0; i < 2 && node.inputs.size() == 2; ++i) {
    const ConstantPtr constant = constant_input(graph, node, i);
    if (!constant || constant->desc().dtype != DataType::kFloat ||
        element_count(constant->desc().shape) != 1)
      continue;
    scalar = to_doubles(*constant)[0];
    other = node.inputs[1 - i];
    return true;
  }
  return false;
}

/// The node that squares `d`: Pow(d, 2) or Mul(d, d).
bool is_square_of(const Graph& graph, NodeId id, ValueId d) {
  if (id == kNone) return false;
  const Node& node = graph.nodes[id];
  if (is_type(node, "Mul")) return node.inputs[0] == d && node.inputs[1] == d;
  return is_type(node, "Pow") && node.inputs[0] == d &&
         is_scalar(constant_input(graph, node, 1), 2);
}

std::optional<Match> match_core(const Graph& graph, NodeId div) {
  const Node& last = graph.nodes[div];
  if (!is_type(last, "Div") || dtype_of(graph, last.outputs[0]) != DataType::kFloat)
    return std::nullopt;
  const NodeId sqrt = producer_of_type(graph, last.inputs[1], "Sqrt");
  const NodeId sub = producer_of_type(graph, last.inputs[0], "Sub");
  if (sqrt == kNone || sub == kNone) return std::nullopt;
  const NodeId add = producer_of_type(graph, graph.nodes[sqrt].inputs[0], "Add");
  Match match;
  ValueId variance = kNone;
  if (add == kNone || !split_scalar(graph, graph.nodes[add], match.epsilon, variance))
    return std::nullopt;
  const NodeId second_mean = producer_of_type(graph, variance, "ReduceMean");
  const NodeId first_mean = producer_of_type(graph, graph.nodes[sub].inputs[1], "ReduceMean");
  if (second_mean == kNone || first_mean == kNone) return std::nullopt;
  const NodeId square = graph.values[graph.nodes[second_mean].inputs[0]].producer;
  if (!is_square_of(graph, square, last.inputs[0])) return std::nullopt;
  match.x = graph.nodes[sub].inputs[0];
  if (graph.nodes[first_mean].inputs[0] != match.x) return std::nullopt;
  const auto axis = trailing_axis(graph, graph.nodes[first_mean]);
  if (!axis || axis != trailing_axis(graph, graph.nodes[second_mean])) return std::nullopt;
  match.axis = *axis;
  match.nodes = {first_mean, sub, square, second_mean, add, sqrt, div};
  return match;
}

/// If the sole reader of the last matched node is `type` with a parameter over the normalised
/// dimensions, takes it in.
ValueId extend(const Graph& graph, Match& match, const std::string& type) {
  const ValueId tail = graph.nodes[match.nodes.back()].outputs[0];
  const NodeId next = sole_consumer(graph, tail);
  if (next == kNone || !is_type(graph.nodes[next], type)) return kNone;
  const Shape& shape = shape_of(graph, match.x);
  const Shape normalized(shape.begin() + match.axis, shape.end());
  for (const ValueId input : graph.nodes[next].inputs) {
    if (input == tail || shape_of(graph, input) != normalized) continue;
    match.nodes.push_back(next);
    return input;
  }
  return kNone;
}

/// Only the last value may be seen from outside.
bool is_private(const Graph& graph, const Match& match) {
  for (std::size_t i = 0; i + 1 < match.nodes.size(); ++i) {
    const ValueId value = graph.nodes[match.nodes[i]].outputs[0];
    if (graph.is_output(value)) return false;
    for (const NodeId reader : graph.consumers(value))
      if (std::ranges::find(match.nodes, reader) == match.nodes.end()) return false;
  }
  return true;
}

bool fuse_norm(Graph& graph, NodeId id) {
  auto match = match_core(graph, id);
  if (!match || !is_static(shape_of(graph, match->x)) || !is_private(graph, *match)) return false;
  match->gamma = extend(graph, *match, "Mul");
  if (match->gamma != kNone) match->beta = extend(graph, *match, "Add");
  const ValueId output = graph.nodes[match->nodes.back()].outputs[0];
  const Shape& shape = shape_of(graph, match->x);
  const Shape normalized(shape.begin() + match->axis, shape.end());
  if (match->gamma == kNone) {
    const std::vector<double> ones(element_count(normalized), 1.0);
    match->gamma = add_floats(graph, graph.nodes[id].name + "_ones", normalized, ones);
  }
  reference::Attrs attrs;
  attrs.set("axis", match->axis);
  attrs.set("epsilon", static_cast<float>(match->epsilon));
  Node norm{
      .op = call_of("LayerNorm", attrs), .inputs = {match->x, match->gamma}, .outputs = {output}};
  if (match->beta != kNone) norm.inputs.push_back(match->beta);
  replace_nodes(graph, match->nodes, std::move(norm));
  return true;
}

}  // namespace

bool fuse_layer_norm(Graph& graph) {
  bool changed = false;
  for (const NodeId id : graph.topological_order())
    if (!graph.nodes[id].is_dead) changed |= fuse_norm(graph, id);
  return changed;
}

}  // namespace aoe::graph
