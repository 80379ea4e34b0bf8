// widen_sequences: convolutions and pooling over one spatial dimension become those over an image of height 1, which have
// fast kernels. So do elementwise operators and concatenations of channels between them; what is left are Reshapes at the
// borders, which move nothing.
#include <algorithm>

#include "graph/analysis/elementwise_group.h"
#include "graph/passes.h"
#include "graph/rewrite.h"

namespace aoe::graph {
namespace {

constexpr std::size_t kSequenceRank = 3;  ///< N, C and one spatial dimension
constexpr std::size_t kMultiplier =
    5;  ///< the last input of a QuantConv2D; operands of what follows stand behind

/// {..., L} -> {..., 1, L}; what broadcasts along L alone stays.
Shape widened(const Shape& shape) {
  Shape wide = shape;
  if (wide.size() > 1) wide.insert(wide.end() - 1, 1);
  return wide;
}

/// The image that was made a sequence again to give this value; kNone when none was.
ValueId image_behind(const Graph& graph, ValueId value) {
  const NodeId reshape = producer_of_type(graph, value, "Reshape");
  if (reshape == kNone) return kNone;
  const ValueId image = graph.nodes[reshape].inputs[0];
  return shape_of(graph, image) == widened(shape_of(graph, value)) ? image : kNone;
}

ValueId reshaped(Graph& graph, ValueId from, const Shape& shape, const Node& reader) {
  TensorDesc desc = graph.values[from].desc;
  desc.shape = shape;
  if (const ConstantPtr constant = graph.values[from].constant)
    return add_constant(graph, graph.values[from].name + "_image",
                        std::make_shared<Constant>(desc, constant->data()));
  if (const ValueId image = image_behind(graph, from); image != kNone) return image;
  const ValueId to = add_intermediate(graph, graph.values[from].name + "_image", desc);
  graph.add_node({.name = graph.values[to].name,
                  .op = call_of("Reshape"),
                  .inputs = {from, add_ints(graph, reader.name + "_image_shape", shape)},
                  .outputs = {to},
                  .origins = reader.origins});
  return to;
}

/// Itself, or as what a body is fused behind.
bool has_window(const Node& node) {
  constexpr const char* kTypes[] = {"Conv2D", "Conv2DTranspose", "QuantConv2D", "MaxPoolV3",
                                    "AvgPoolV2"};
  return std::ranges::find(kTypes, reference::anchor(node.op).type) != std::end(kTypes);
}

bool is_between(const Graph& graph, const Node& node) {
  const bool reads_image = std::ranges::any_of(node.inputs, [&](ValueId input) {
    return input != kNone && image_behind(graph, input) != kNone;
  });
  if (!reads_image) return false;
  if (node.op.type == "ConcatV2") {
    const std::int64_t axis = node.op.attrs.get_int("axis", 0);
    return axis == 1 || axis == -2;
  }
  return reference::is_kind(node.op.type, reference::OpKind::kElementwise) &&
         !is_quantisation(node);  // these count axes
}

/// Attributes of a window, each with what stands for the new height.
void widen_window(reference::Attrs& attrs) {
  const auto prepend = [&](const char* name, std::int64_t value) {
    if (!attrs.has(name)) return;
    auto values = attrs.get_ints(name);
    values.insert(values.begin(), value);
    attrs.set(name, values);
  };
  for (const char* name : {"kernel_shape", "strides", "dilations", "output_shape"})
    prepend(name, 1);
  prepend("output_padding", 0);
  if (attrs.has("pads")) {
    const auto pads = attrs.get_ints("pads");
    attrs.set("pads", std::vector<std::int64_t>{0, pads.at(0), 0, pads.at(1)});
  }
}

/// Of float32; of bytes convolutions alone, behind which nothing counts axes: scales for each channel would.
bool is_type_widenable(const Graph& graph, const Node& node, std::size_t i) {
  if (reference::anchor(node.op).type != "QuantConv2D")
    return dtype_of(graph, node.inputs[i]) == DataType::kFloat;
  const Shape& shape = shape_of(graph, node.inputs[i]);
  return i <= kMultiplier || shape.size() == kSequenceRank || element_count(shape) == 1;
}

bool is_widenable(const Graph& graph, const Node& node) {
  if (node.outputs.size() != 1 || node.outputs[0] == kNone || !has_input(node, 0)) return false;
  const Shape& out = shape_of(graph, node.outputs[0]);
  // Of nothing there is nothing to gain, and a Reshape reads a 0 as "as it was".
  if (out.size() != kSequenceRank || !is_static(out) || element_count(out) == 0) return false;
  for (std::size_t i = 0; i < node.inputs.size(); ++i) {
    if (node.inputs[i] == kNone) continue;
    const Shape& shape = shape_of(graph, node.inputs[i]);
    if (shape.size() > kSequenceRank || !is_static(shape) || element_count(shape) == 0)
      return false;
    if (!is_type_widenable(graph, node, i)) return false;
  }
  return has_window(node) ? shape_of(graph, node.inputs[0]).size() == kSequenceRank
                          : is_between(graph, node);
}

void widen(Graph& graph, NodeId id) {
  const Node node = graph.nodes[id];
  std::vector<ValueId> inputs = node.inputs;
  for (ValueId& input : inputs) {
    if (input == kNone) continue;
    const Shape shape = shape_of(graph, input);
    if (shape.size() > 1) input = reshaped(graph, input, widened(shape), node);
  }
  const ValueId narrow = node.outputs[0];
  TensorDesc desc = graph.values[narrow].desc;
  desc.shape = widened(desc.shape);
  const ValueId wide = add_intermediate(graph, graph.values[narrow].name + "_wide", desc);
  const ValueId shape = add_ints(graph, node.name + "_sequence_shape", shape_of(graph, narrow));
  reference::OpCall op = node.op;
  if (has_window(node)) widen_window(reference::edit_anchor(op).attrs);
  if (op.type == "ConcatV2") op.attrs.set("axis", std::int64_t{1});
  graph.add_node({.name = node.name + "_wide",
                  .op = op,
                  .inputs = inputs,
                  .outputs = {wide},
                  .origins = node.origins});
  graph.edit(id)->op = call_of("Reshape");
  graph.edit(id)->inputs = {wide, shape};
  for (const ValueId input : node.inputs) {  // sequences that are only read as images now
    if (input == kNone || graph.is_output(input) || !graph.consumers(input).empty()) continue;
    if (const NodeId reshape = producer_of_type(graph, input, "Reshape"); reshape != kNone)
      graph.remove_node(reshape);
  }
}

}  // namespace

bool widen_sequences(Graph& graph) {
  bool changed = false;
  for (const NodeId id : graph.topological_order()) {
    if (graph.nodes[id].is_dead || !is_widenable(graph, graph.nodes[id])) continue;
    widen(graph, id);
    changed = true;
  }
  return changed;
}

}  // namespace aoe::graph
