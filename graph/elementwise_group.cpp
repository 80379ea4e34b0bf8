// Turning nodes into epilogue steps.
#include "graph/elementwise_group.h"

#include <algorithm>
#include <limits>
#include <map>

#include "graph/quantization.h"
#include "graph/rewrite.h"

namespace aoe::graph {
namespace {

using reference::EpilogueStep;
using reference::Operand;

/// Steps have no absent operands: a bound of Clip that is left out becomes the infinity it stands
/// for.
void fill_absent_bounds(Graph& graph, NodeId id) {
  if (graph.nodes[id].op.type != "ClipByValue") return;
  for (std::size_t i = 1; i < graph.nodes[id].inputs.size(); ++i) {
    if (graph.nodes[id].inputs[i] != kNone) continue;
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    const ValueId bound =
        add_floats(graph, graph.nodes[id].name + "_bound", {}, {i == 1 ? -kInfinity : kInfinity});
    graph.edit(id)->inputs[i] = bound;
  }
}

bool is_byte_conversion(const Graph& graph, const Node& node) {
  for (std::size_t i = 1; i < node.inputs.size(); ++i) {
    const ConstantPtr parameter = constant_input(graph, node, i);
    if (!parameter || element_count(parameter->desc().shape) != 1) return false;
  }
  const bool to_bytes = node.op.type == "Quantize";
  const DataType in = dtype_of(graph, node.inputs[0]), out = dtype_of(graph, node.outputs[0]);
  const DataType real = to_bytes ? in : out;
  return real == DataType::kFloat && is_byte(to_bytes ? out : in) &&
         (!to_bytes || node.inputs.size() == 3) &&
         dtype_of(graph, node.inputs[1]) == DataType::kFloat;
}

class StepWriter {
 public:
  StepWriter(const Graph& graph, NodeId anchor) {
    if (anchor == kNone) {
      fused.op.type = "FusedElementwise";
      return;
    }
    const Node& node = graph.nodes[anchor];
    fused.op = node.op;
    fused.op.anchor_inputs = static_cast<int>(node.inputs.size());
    fused.inputs = node.inputs;
    operands_[node.outputs[0]] = {Operand::Kind::kAnchor, 0};
  }

  void add(const Node& node) {
    EpilogueStep step{.type = node.op.type, .version = node.op.version, .attrs = node.op.attrs};
    for (const ValueId input : node.inputs) step.operands.push_back(operand(input));
    operands_[node.outputs[0]] = {Operand::Kind::kStep, static_cast<int>(fused.op.epilogue.size())};
    fused.op.epilogue.push_back(std::move(step));
    fused.outputs = {node.outputs[0]};
  }

  Node fused;

 private:
  Operand operand(ValueId value) {
    const auto [found, is_new] = operands_.try_emplace(
        value, Operand{Operand::Kind::kInput, static_cast<int>(fused.inputs.size())});
    if (is_new) fused.inputs.push_back(value);
    return found->second;
  }

  std::map<ValueId, Operand> operands_;
};

}  // namespace

bool is_quantisation(const Node& node) {
  return node.op.type == "Quantize" || node.op.type == "Dequantize";
}

bool is_step(const Graph& graph, NodeId id, const Shape& shape) {
  const Node& node = graph.nodes[id];
  if (node.is_dead || !node.op.epilogue.empty() || node.outputs.size() != 1) return false;
  const reference::OpDef* def = reference::ops().find(node.op.type);
  if (def == nullptr || !def->is_elementwise) return false;
  if (shape_of(graph, node.outputs[0]) != shape || !is_static(shape)) return false;
  if (is_quantisation(node)) return is_byte_conversion(graph, node);
  if (dtype_of(graph, node.outputs[0]) != DataType::kFloat) return false;
  return std::ranges::all_of(node.inputs, [&](ValueId input) {
    if (input == kNone) return node.op.type == "ClipByValue";
    return dtype_of(graph, input) == DataType::kFloat && is_static(shape_of(graph, input));
  });
}

NodeId fuse_steps(Graph& graph, NodeId anchor, const std::vector<NodeId>& steps) {
  for (const NodeId id : steps) fill_absent_bounds(graph, id);
  StepWriter writer(graph, anchor);
  for (const NodeId id : steps) writer.add(graph.nodes[id]);
  std::vector<NodeId> old = steps;
  if (anchor != kNone) old.insert(old.begin(), anchor);
  return replace_nodes(graph, std::move(old), std::move(writer.fused));
}

}  // namespace aoe::graph
