// Opset 7 gave elementwise ops numpy's broadcasting and split inference from training; before that
// attributes said both, and before opset 5 the shape that Reshape gives.
#include "graph/import/legacy_opset.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "base/error.h"

namespace aoe::graph {
namespace {

constexpr std::array<std::string_view, 12> kBroadcasting = {
    "Add", "And", "Div", "Equal", "Greater", "Less", "Mul", "Or", "Pow", "PRelu", "Sub", "Xor"};

[[noreturn]] void fail(const Node& node, const std::string& what) {
  throw Error(ExitCode::kModel, what, "node " + node.name, "convert the model to opset 7 or newer");
}

/// "broadcast=1, axis=1" places the second operand's dimensions at `axis` of the first's:
/// dimensions of size 1 behind them say the same to numpy's rule.
void upgrade_broadcast(Graph& graph, Node& node, bool is_per_channel) {
  const bool has_axis = node.op.attrs.has("axis") || is_per_channel;
  std::int64_t axis = node.op.attrs.get_int("axis", is_per_channel ? 1 : 0);
  node.op.attrs.erase("broadcast");
  node.op.attrs.erase("axis");
  if (!has_axis || node.inputs.size() != 2) return;
  const TensorDesc& a = graph.values[node.inputs[0]].desc;
  const Value& b = graph.values[node.inputs[1]];
  if (!has_known_rank(a) || !has_known_rank(b.desc))
    fail(node, "broadcasts along an axis of unknown ranks");
  const auto rank = static_cast<std::int64_t>(a.shape.size());
  const auto b_rank = static_cast<std::int64_t>(b.desc.shape.size());
  if (axis < 0) axis += rank;
  if (axis < 0 || axis + b_rank > rank)
    fail(node, "broadcasts along an axis that its first operand does not have");
  if (axis + b_rank == rank) return;
  TensorDesc desc = b.desc;
  desc.shape.resize(static_cast<std::size_t>(rank - axis), 1);
  if (b.constant) {
    node.inputs[1] = graph.add_value(b.name + "_for_" + node.name, desc,
                                     std::make_shared<Constant>(desc, b.constant->data()));
    return;
  }
  const std::string name = node.name + "_operand";
  Shape dims = desc.shape;
  std::ranges::replace(dims, kUnknownDim, 0);  // which Reshape takes from what it reads
  const auto shape = std::make_shared<Constant>(
      TensorDesc{.dtype = DataType::kInt64, .shape = {static_cast<std::int64_t>(dims.size())}},
      dims.data());
  Node reshape{.name = name,
               .op = {.type = "Reshape", .version = 5},
               .inputs = {node.inputs[1], graph.add_value(name + "_shape", shape->desc(), shape)},
               .origins = {node.name}};
  reshape.outputs = {graph.add_value(name + "_out", desc)};
  node.inputs[1] = reshape.outputs[0];
  graph.add_node(std::move(reshape));
}

void upgrade_reshape(Graph& graph, Node& node) {
  if (node.inputs.size() != 1 || !node.op.attrs.has("shape")) return;
  const std::vector<std::int64_t> dims = node.op.attrs.get_ints("shape");
  const auto shape = std::make_shared<Constant>(
      TensorDesc{.dtype = DataType::kInt64, .shape = {std::ssize(dims)}}, dims.data());
  node.inputs.push_back(graph.add_value(node.name + "_shape", shape->desc(), shape));
  node.op.attrs.erase("shape");
}

}  // namespace

void upgrade_node(Graph& graph, Node& node, const std::string& onnx_type) {
  node.op.attrs.erase("consumed_inputs");  // an optimisation hint of the first versions
  if (std::ranges::find(kBroadcasting, onnx_type) != kBroadcasting.end()) {
    // PRelu's slope was one number, or one for each channel.
    const bool is_per_channel = onnx_type == "PRelu" && node.inputs.size() == 2 &&
                                element_count(graph.values[node.inputs[1]].desc.shape) > 1;
    upgrade_broadcast(graph, node, is_per_channel);
  }
  if (onnx_type == "Reshape") upgrade_reshape(graph, node);
  if (onnx_type == "Gemm") node.op.attrs.erase("broadcast");
  if (onnx_type == "BatchNormalization" || onnx_type == "Dropout") {
    if (node.op.attrs.get_int("is_test", 0) == 0 && onnx_type == "BatchNormalization")
      fail(node, "normalises for training (is_test is not set)");
    node.op.attrs.erase("is_test");
  }
}

}  // namespace aoe::graph
