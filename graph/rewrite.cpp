// The moves that passes are made of.
#include "graph/rewrite.h"

#include <algorithm>
#include <cstring>

#include "base/check.h"

namespace aoe::graph {

bool is_type(const Node& node, std::string_view type) {
  AOE_CHECK(reference::ops().find(type) != nullptr, "there is no operator " + std::string(type));
  return !node.is_dead && node.op.type == type;
}

const Shape& shape_of(const Graph& graph, ValueId value) {
  return graph.values[value].desc.shape;
}

DataType dtype_of(const Graph& graph, ValueId value) {
  return graph.values[value].desc.dtype;
}

bool has_input(const Node& node, std::size_t i) {
  return i < node.inputs.size() && node.inputs[i] != kNone;
}

std::size_t anchor_input_count(const Node& node) {
  return reference::anchor_inputs(node.op, node.inputs.size());
}

ConstantPtr constant_input(const Graph& graph, const Node& node, std::size_t i) {
  return has_input(node, i) ? graph.values[node.inputs[i]].constant : nullptr;
}

NodeId producer_of_type(const Graph& graph, ValueId value, std::string_view type) {
  const NodeId producer = value == kNone ? kNone : graph.values[value].producer;
  return producer != kNone && is_type(graph.nodes[producer], type) ? producer : kNone;
}

NodeId sole_consumer(const Graph& graph, ValueId value) {
  const std::vector<NodeId>& readers = graph.consumers(value);
  return readers.size() == 1 && !graph.is_output(value) ? readers[0] : kNone;
}

bool is_float_constant(const Graph& graph, const Node& node, std::size_t i) {
  const ConstantPtr constant = constant_input(graph, node, i);
  return constant && constant->desc().dtype == DataType::kFloat;
}

bool is_scalar(const ConstantPtr& constant, float value) {
  return constant && constant->desc().dtype == DataType::kFloat &&
         element_count(constant->desc().shape) == 1 &&
         *static_cast<const float*>(constant->data()) == value;
}

namespace {

template <typename To, typename From>
std::vector<To> converted(const Constant& constant) {
  const auto* data = static_cast<const From*>(constant.data());
  return {data, data + element_count(constant.desc().shape)};
}

}  // namespace

std::vector<double> to_doubles(const Constant& constant) {
  const DataType dtype = constant.desc().dtype;
  AOE_CHECK(dtype == DataType::kFloat || dtype == DataType::kDouble, to_string(constant.desc()));
  return dtype == DataType::kFloat ? converted<double, float>(constant)
                                   : converted<double, double>(constant);
}

std::vector<std::int64_t> to_ints(const Constant& constant) {
  const DataType dtype = constant.desc().dtype;
  AOE_CHECK(dtype == DataType::kInt64 || dtype == DataType::kInt32, to_string(constant.desc()));
  return dtype == DataType::kInt64 ? converted<std::int64_t, std::int64_t>(constant)
                                   : converted<std::int64_t, std::int32_t>(constant);
}

bool ints_of(const Graph& graph, const Node& node, const std::string& attribute, std::size_t input,
             std::vector<std::int64_t>& ints) {
  // A node of a newer opset that still carries the attribute means its input.
  if (!has_input(node, input) && node.op.attrs.has(attribute)) {
    ints = node.op.attrs.get_ints(attribute);
    return true;
  }
  const ConstantPtr constant = constant_input(graph, node, input);
  if (!constant) return false;
  ints = to_ints(*constant);
  return true;
}

reference::OpCall call_of(const std::string& type, reference::Attrs attrs) {
  const reference::OpDef* def = reference::ops().find(type);
  AOE_CHECK(def != nullptr, "there is no operator " + type);
  return {.type = type, .version = def->versions.back(), .attrs = std::move(attrs)};
}

bool is_all(const Node& node, const std::string& attribute, std::int64_t value) {
  return std::ranges::all_of(node.op.attrs.get_ints(attribute, {}),
                             [&](std::int64_t each) { return each == value; });
}

namespace {

bool is_function(const Graph& graph, NodeId id, ValueId value) {
  if (id == kNone) return false;
  const Node& node = graph.nodes[id];
  if (!reference::is_elementwise(node.op) || node.outputs.size() != 1 ||
      graph.values[node.outputs[0]].desc != graph.values[value].desc ||
      std::ranges::count(node.inputs, value) != 1)
    return false;
  return std::ranges::all_of(node.inputs, [&](ValueId input) {
    return input == value || input == kNone ||
           (graph.values[input].constant && element_count(shape_of(graph, input)) == 1);
  });
}

}  // namespace

std::vector<NodeId> functions_behind(const Graph& graph, ValueId value) {
  std::vector<NodeId> functions;
  for (NodeId next = sole_consumer(graph, value); is_function(graph, next, value);
       next = sole_consumer(graph, value)) {
    functions.push_back(next);
    value = graph.nodes[next].outputs[0];
  }
  return functions;
}

ConstantPtr as_right_factor(const Constant& weights) {
  const Shape& shape = weights.desc().shape;
  const std::int64_t out = shape[0], in = element_count({shape.begin() + 1, shape.end()});
  const DataType dtype = weights.desc().dtype;
  auto factor = std::make_shared<Constant>(TensorDesc{.dtype = dtype, .shape = {in, out}});
  const std::size_t bytes = size_bytes(dtype);
  const auto* from = static_cast<const char*>(weights.data());
  auto* to = static_cast<char*>(factor->mutable_data());
  for (std::int64_t o = 0; o < out; ++o)
    for (std::int64_t i = 0; i < in; ++i, from += bytes)
      std::memcpy(to + static_cast<std::size_t>(i * out + o) * bytes, from, bytes);
  return factor;
}

ValueId add_constant(Graph& graph, const std::string& stem, ConstantPtr constant) {
  const TensorDesc desc = constant->desc();
  return graph.add_value(graph.unused_name(stem), desc, std::move(constant));
}

ValueId add_ints(Graph& graph, const std::string& stem, const std::vector<std::int64_t>& ints) {
  const TensorDesc desc{.dtype = DataType::kInt64,
                        .shape = {static_cast<std::int64_t>(ints.size())}};
  return add_constant(graph, stem, std::make_shared<Constant>(desc, ints.data()));
}

ValueId add_floats(Graph& graph, const std::string& stem, const Shape& shape,
                   const std::vector<double>& values) {
  const std::vector<float> floats(values.begin(), values.end());
  const TensorDesc desc{.dtype = DataType::kFloat, .shape = shape};
  AOE_CHECK(element_count(shape) == static_cast<std::int64_t>(values.size()), to_string(shape));
  return add_constant(graph, stem, std::make_shared<Constant>(desc, floats.data()));
}

ValueId add_intermediate(Graph& graph, const std::string& stem, TensorDesc desc) {
  return graph.add_value(graph.unused_name(stem), std::move(desc));
}

ValueId add_row(Graph& graph, std::vector<Node> row, const TensorDesc& desc,
                const std::string& suffix) {
  ValueId whole = kNone, made = kNone;
  for (Node& node : row) {
    if (made != kNone) std::ranges::replace(node.inputs, whole, made);
    whole = node.outputs[0];
    made = add_intermediate(graph, graph.values[whole].name + suffix, desc);
    node.outputs = {made};
    graph.add_node(std::move(node));
  }
  return made;
}

bool bypass(Graph& graph, NodeId id, ValueId replacement) {
  const ValueId old = graph.nodes[id].outputs[0];
  if (!graph.is_output(old)) {
    graph.remove_node(id);
    graph.replace_uses(old, replacement);
    return true;
  }
  const NodeId producer = graph.values[replacement].producer;
  if (producer == kNone || graph.is_output(replacement)) return false;
  graph.remove_node(id);
  graph.replace_uses(replacement, old);
  std::ranges::replace(graph.edit(producer)->outputs, replacement, old);
  graph.values[old].producer = producer;
  graph.values[replacement].producer = kNone;
  return true;
}

NodeId replace_nodes(Graph& graph, std::vector<NodeId> old, Node node) {
  const auto add_origins = [&](const Node& from) {
    for (const std::string& origin : from.origins)
      if (std::ranges::find(node.origins, origin) == node.origins.end())
        node.origins.push_back(origin);
  };
  if (node.name.empty()) node.name = graph.nodes[old[0]].name;
  const std::optional<Format> format = graph.nodes[old[0]].kept_format;
  if (!node.kept_format &&
      std::ranges::all_of(old, [&](NodeId id) { return graph.nodes[id].kept_format == format; }))
    node.kept_format = format;
  for (const NodeId id : old) {
    add_origins(graph.nodes[id]);
    graph.remove_node(id);
  }
  const NodeId id = old.back();
  for (const ValueId output : node.outputs)
    if (output != kNone) graph.values[output].producer = id;
  *graph.edit(id) = std::move(node);
  return id;
}

Node fused_node(const Graph& graph, const std::vector<NodeId>& nodes, bool has_anchor) {
  std::vector<reference::NamedStep> steps;
  for (const NodeId id : nodes) {
    const Node& node = graph.nodes[id];
    steps.push_back({node.op, node.inputs, node.outputs[0]});
  }
  Node fused;
  fused.op = reference::fused_call(steps, has_anchor, fused.inputs);
  fused.outputs = {steps.back().result};
  return fused;
}

}  // namespace aoe::graph
