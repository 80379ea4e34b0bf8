// Graph::to_text(): one line per input, node and output, stable enough for golden files.
//
//   input data: float32 1x3x8x8
//   conv1: Conv2D(data, w{float32 4x3x3x3}) [pads=1,1,1,1] | Relu(%0) -> y: float32 1x4x8x8
//   output y
//
// Between "|" stand the ops of a body: %n is the result of the n-th, names are inputs of the node.
#include <fmt/format.h>

#include "graph/graph.h"

namespace aoe::graph {
namespace {

/// Constants of up to so many elements show their values: shapes, axes, scalars.
constexpr std::int64_t kMostShownElements = 8;

std::string shape_text(const TensorDesc& desc) {
  const std::string type(name(desc.dtype));
  return has_known_rank(desc) ? type + " " + to_string(desc.shape) : type + " of unknown rank";
}

template <typename T>
std::string join(const T* values, std::int64_t count) {
  std::string text;
  for (std::int64_t i = 0; i < count; ++i) text += fmt::format("{}{}", i > 0 ? "," : "", values[i]);
  return text;
}

std::string constant_text(const Constant& constant) {
  const std::int64_t count = element_count(constant.desc().shape);
  std::string values;
  if (count > 0 && count <= kMostShownElements) {
    if (constant.desc().dtype == DataType::kInt64)
      values = join(static_cast<const std::int64_t*>(constant.data()), count);
    else if (constant.desc().dtype == DataType::kInt32)
      values = join(static_cast<const std::int32_t*>(constant.data()), count);
    else if (constant.desc().dtype == DataType::kFloat && count == 1)
      values = join(static_cast<const float*>(constant.data()), count);
  }
  if (!values.empty()) values = " = " + values;
  return "{" + shape_text(constant.desc()) + values + "}";
}

struct AttrText {
  std::string operator()(std::int64_t v) const { return std::to_string(v); }
  std::string operator()(float v) const { return fmt::format("{}", v); }
  std::string operator()(const std::string& v) const { return v; }
  std::string operator()(const std::vector<std::int64_t>& v) const {
    return join(v.data(), static_cast<std::int64_t>(v.size()));
  }
  std::string operator()(const std::vector<float>& v) const {
    return join(v.data(), static_cast<std::int64_t>(v.size()));
  }
  std::string operator()(const std::vector<std::string>& v) const {
    return join(v.data(), static_cast<std::int64_t>(v.size()));
  }
  std::string operator()(const ConstantPtr& v) const { return constant_text(*v); }
};

std::string attrs_text(const reference::Attrs& attrs) {
  std::string text;
  for (const auto& [key, value] : attrs.all())
    text += (text.empty() ? "" : " ") + key + "=" + std::visit(AttrText{}, value);
  return text.empty() ? text : " [" + text + "]";
}

std::string value_text(const Graph& graph, ValueId id) {
  if (id == kNone) return "_";
  const Value& value = graph.values[id];
  return value.constant ? value.name + constant_text(*value.constant) : value.name;
}

std::string op_text(const reference::OpCall& op, const std::vector<std::string>& operands) {
  return fmt::format("{}({}){}", op.type, fmt::join(operands, ", "), attrs_text(op.attrs));
}

std::string call_text(const Graph& graph, const Node& node) {
  std::vector<std::string> values;
  for (const ValueId input : node.inputs) values.push_back(value_text(graph, input));
  if (node.op.body == nullptr) return op_text(node.op, values);
  std::string text;
  for (const reference::BodyStep& step : reference::flat_steps(node.op)) {
    std::vector<std::string> operands;
    for (const int operand : step.operands) operands.push_back(values.at(operand));
    text += (text.empty() ? "" : " | ") + op_text(step.call, operands);
    values.push_back(fmt::format("%{}", values.size() - node.inputs.size()));
  }
  return text;
}

std::string node_text(const Graph& graph, const Node& node) {
  std::string text = node.name + ": " + call_text(graph, node);
  text += " -> ";
  for (std::size_t i = 0; i < node.outputs.size(); ++i) {
    const ValueId id = node.outputs[i];
    text += i > 0 ? ", " : "";
    text += id == kNone ? "_" : graph.values[id].name + ": " + shape_text(graph.values[id].desc);
  }
  if (node.kept_format) text += fmt::format(" format={}", aoe::name(*node.kept_format));
  return text;
}

}  // namespace

std::string Graph::to_text() const {
  std::string text = "graph " + name + "\n";
  for (const ValueId id : inputs)
    text += "input " + values[id].name + ": " + shape_text(values[id].desc) + "\n";
  for (const NodeId id : topological_order()) text += node_text(*this, nodes[id]) + "\n";
  for (const ValueId id : outputs) text += "output " + value_text(*this, id) + "\n";
  return text;
}

}  // namespace aoe::graph
