// remove_identities: takes out nodes that hand their input on unchanged and what a Concat reads without elements, and writes
// all that only rename dimensions (Squeeze, Unsqueeze, Flatten, a Transpose of dimensions of size 1, chains of them) as one
// Reshape to a constant shape.
#include <algorithm>
#include <initializer_list>
#include <iterator>
#include <numeric>

#include "graph/passes.h"
#include "graph/rewrite.h"
#include "reference/tensors/axes.h"

namespace aoe::graph {
namespace {

bool keeps_desc(const Graph& graph, const Node& node) {
  const TensorDesc& in = graph.values[node.inputs[0]].desc;
  return in == graph.values[node.outputs[0]].desc && is_static(in.shape);
}

bool is_training(const Graph& graph, const Node& node) {
  const ConstantPtr flag = constant_input(graph, node, 2);
  return has_input(node, 2) && (!flag || *static_cast<const unsigned char*>(flag->data()) != 0);
}

bool is_copying_slice(const Graph& graph, const Node& node) {
  if (!keeps_desc(graph, node)) return false;
  if (!has_input(node, 4)) return true;
  const ConstantPtr steps =
      constant_input(graph, node, 4);  // a step of -1 keeps the shape and turns the data
  return steps && std::ranges::all_of(to_ints(*steps), [](std::int64_t step) { return step > 0; });
}

bool is_copying_pad(const Graph& graph, const Node& node) {
  std::vector<std::int64_t> pads;
  return keeps_desc(graph, node) && ints_of(graph, node, "pads", 1, pads) &&
         std::ranges::all_of(pads, [](std::int64_t pad) { return pad == 0; });
}

/// A pooling window of one element (adaptive pooling of an image that has the asked size already).
bool is_copying_pool(const Graph& graph, const Node& node) {
  const auto is_one = [](std::int64_t v) { return v == 1; };
  return keeps_desc(graph, node) &&
         std::ranges::all_of(node.op.attrs.get_ints("kernel_shape"), is_one) &&
         std::ranges::all_of(node.op.attrs.get_ints("strides"), is_one);
}

/// x + 0, x - 0, x * 1, x / 1 with a scalar on the right, or on the left where order does not
/// matter.
bool is_neutral(const Graph& graph, const Node& node, std::size_t& kept) {
  const bool is_sum = is_type(node, "Add") || is_type(node, "Sub");
  const bool is_product = is_type(node, "Mul") || is_type(node, "Div");
  if ((!is_sum && !is_product) || node.inputs.size() != 2) return false;
  const bool commutes = is_type(node, "Add") || is_type(node, "Mul");
  for (std::size_t scalar = commutes ? 0 : 1; scalar < 2; ++scalar) {
    kept = 1 - scalar;
    if (is_scalar(constant_input(graph, node, scalar), is_sum ? 0.0f : 1.0f) &&
        graph.values[node.inputs[kept]].desc == graph.values[node.outputs[0]].desc)
      return true;
  }
  return false;
}

/// Whether output 0 equals input `kept`.
bool is_identity(const Graph& graph, const Node& node, std::size_t& kept) {
  kept = 0;
  if (node.outputs.size() != 1 || node.outputs[0] == kNone || !has_input(node, 0)) return false;
  const auto is_any = [&](std::initializer_list<std::string_view> types) {
    return std::ranges::any_of(types, [&](std::string_view type) { return is_type(node, type); });
  };
  if (is_type(node, "Identity")) return true;
  if (is_type(node, "Dropout")) return !is_training(graph, node);
  if (is_any({"Cast", "Reshape", "Expand", "Tile", "SplitV"})) return keeps_desc(graph, node);
  if (is_type(node, "Slice")) return is_copying_slice(graph, node);
  if (is_type(node, "PadV3")) return is_copying_pad(graph, node);
  if (is_any({"AvgPoolV2", "MaxPoolV3"})) return is_copying_pool(graph, node);
  if (is_any({"ConcatV2", "AddN", "Maximum", "Minimum", "MeanN"})) return node.inputs.size() == 1;
  return is_neutral(graph, node, kept);
}

std::vector<std::int64_t> permutation_of(const Graph& graph, const Node& node) {
  const std::size_t rank = shape_of(graph, node.inputs[0]).size();
  std::vector<std::int64_t> reversed(rank);
  std::iota(reversed.rbegin(), reversed.rend(), 0);
  return node.op.attrs.get_ints("perm", reversed);
}

/// A Transpose that leaves all dimensions larger than 1 in their order moves no data.
bool only_renames(const Graph& graph, const Node& node) {
  if (reference::is_reshape(node.op.type)) return true;
  if (!is_type(node, "Transpose")) return false;
  const Shape& shape = shape_of(graph, node.inputs[0]);
  std::vector<std::int64_t> order;
  for (const std::int64_t axis : permutation_of(graph, node))
    if (shape[axis] != 1) order.push_back(axis);
  return std::ranges::is_sorted(order);
}

/// To a constant shape that means the same whatever the node reads: none that copies a length of 0 from there.
bool is_canonical_reshape(const Graph& graph, const Node& node) {
  if (!is_type(node, "Reshape")) return false;
  const ConstantPtr shape = constant_input(graph, node, 1);
  if (!shape) return false;
  const std::vector<std::int64_t> lengths = to_ints(*shape);
  const bool copies =
      std::ranges::find(lengths, 0) != lengths.end() && node.op.attrs.get_int("allowzero", 0) == 0;
  return !copies && lengths == shape_of(graph, node.outputs[0]);
}

bool to_reshape(Graph& graph, NodeId id) {
  const Node& node = graph.nodes[id];
  if (node.op.body != nullptr || !has_input(node, 0) || node.outputs.size() != 1 ||
      node.outputs[0] == kNone)
    return false;
  const Shape shape = shape_of(graph, node.outputs[0]);
  if (!is_static(shape) || !is_static(shape_of(graph, node.inputs[0])) ||
      !only_renames(graph, node) || is_canonical_reshape(graph, node))
    return false;
  // A model may declare what its computed shape does not give; that is for the run to say.
  if (element_count(shape) != element_count(shape_of(graph, node.inputs[0]))) return false;
  reference::Attrs attrs;
  if (std::ranges::find(shape, 0) != shape.end()) attrs.set("allowzero", std::int64_t{1});
  const ValueId target = add_ints(graph, node.name + "_shape", shape);
  const NodeEdit changed = graph.edit(id);
  changed->op = call_of("Reshape", std::move(attrs));
  changed->inputs = {changed->inputs[0], target};
  return true;
}

/// Reshape(Reshape(x)) reads x; Transpose(Transpose(x)) becomes one.
bool skip_middle(Graph& graph, NodeId id) {
  const Node& node = graph.nodes[id];
  if (is_canonical_reshape(graph, node)) {
    const NodeId before = producer_of_type(graph, node.inputs[0], "Reshape");
    if (before == kNone) return false;
    graph.edit(id)->inputs[0] = graph.nodes[before].inputs[0];
    return true;
  }
  if (!is_type(node, "Transpose")) return false;
  const NodeId before = producer_of_type(graph, node.inputs[0], "Transpose");
  if (before == kNone) return false;
  const auto first = permutation_of(graph, graph.nodes[before]);
  auto both = permutation_of(graph, node);
  for (std::int64_t& axis : both) axis = first[axis];
  const NodeEdit changed = graph.edit(id);
  changed->op.attrs.set("perm", both);
  changed->inputs[0] = graph.nodes[before].inputs[0];
  return true;
}

/// Cast to a type that holds every value of the first, and back: what was read.
ValueId cast_back(const Graph& graph, const Node& node) {
  if (!is_type(node, "Cast")) return kNone;
  const NodeId before = producer_of_type(graph, node.inputs[0], "Cast");
  if (before == kNone) return kNone;
  const ValueId first = graph.nodes[before].inputs[0];
  const bool is_same = graph.values[first].desc == graph.values[node.outputs[0]].desc;
  const bool is_wider = dtype_of(graph, node.inputs[0]) == DataType::kFloat &&
                        is_floating(dtype_of(graph, first)) &&
                        size_bytes(dtype_of(graph, first)) <= size_bytes(DataType::kFloat);
  return is_same && is_wider ? first : kNone;
}

/// What skip_middle() and bypass() leave behind without readers.
void remove_if_unread(Graph& graph, NodeId id) {
  const Node& node = graph.nodes[id];
  if (node.is_dead) return;
  for (const ValueId output : node.outputs)
    if (output != kNone && (graph.is_output(output) || !graph.consumers(output).empty())) return;
  graph.remove_node(id);
}

/// A Concat reads nothing of operands that are not there along its axis. (Where another dimension is 0, they make the result longer.)
bool drop_empty_operands(Graph& graph, NodeId id) {
  const Node& node = graph.nodes[id];
  if (!is_type(node, "ConcatV2")) return false;
  std::vector<ValueId> kept;
  std::ranges::copy_if(node.inputs, std::back_inserter(kept), [&](ValueId input) {
    const TensorDesc& desc = graph.values[input].desc;
    if (!has_known_rank(desc)) return true;
    const Shape& shape = desc.shape;
    return shape[reference::normalize_axis(node.op.attrs.get_int("axis", 0), shape.size())] != 0;
  });
  if (kept.empty() || kept.size() == node.inputs.size()) return false;
  graph.edit(id)->inputs = std::move(kept);
  return true;
}

bool simplify(Graph& graph, NodeId id) {
  bool changed = to_reshape(graph, id);
  changed |= drop_empty_operands(graph, id);
  const NodeId before =
      has_input(graph.nodes[id], 0) ? graph.values[graph.nodes[id].inputs[0]].producer : kNone;
  if (skip_middle(graph, id)) {
    remove_if_unread(graph, before);
    changed = true;
    to_reshape(graph, id);
  }
  std::size_t kept = 0;
  if (const ValueId first = cast_back(graph, graph.nodes[id]); first != kNone) {
    changed |= bypass(graph, id, first);
    remove_if_unread(graph, before);
  } else if (is_identity(graph, graph.nodes[id], kept)) {
    changed |= bypass(graph, id, graph.nodes[id].inputs[kept]);
  }
  return changed;
}

}  // namespace

bool remove_identities(Graph& graph) {
  bool changed = false;
  for (const NodeId id : graph.topological_order())
    if (!graph.nodes[id].is_dead) changed |= simplify(graph, id);
  return changed;
}

}  // namespace aoe::graph
