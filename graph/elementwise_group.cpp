// Turning nodes into epilogue steps.
#include "graph/elementwise_group.h"

#include <algorithm>
#include <limits>
#include <map>

#include "graph/quantization.h"
#include "graph/rewrite.h"
#include "reference/widen.h"

namespace aoe::graph {
namespace {

using reference::EpilogueStep;
using reference::Operand;

/// Steps have no absent operands. Those at the end are left out; a lower bound of Clip becomes the infinity that it stands
/// for.
void fill_absent_operands(Graph& graph, NodeId id) {
  while (graph.nodes[id].inputs.back() == kNone) graph.edit(id)->inputs.pop_back();
  for (std::size_t i = 0; i < graph.nodes[id].inputs.size(); ++i) {
    if (graph.nodes[id].inputs[i] != kNone) continue;
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    const ValueId bound = add_floats(graph, graph.nodes[id].name + "_bound", {}, {-kInfinity});
    graph.edit(id)->inputs[i] = bound;
  }
}

/// Whether fill_absent_operands() knows what absent operands stand for.
bool has_operands(const Graph& graph, const Node& node) {
  if (node.inputs.empty() || node.inputs[0] == kNone) return false;
  const auto last = std::ranges::find_if(node.inputs.rbegin(), node.inputs.rend(),
                                         [](ValueId input) { return input != kNone; });
  const bool has_gap = std::find(last, node.inputs.rend(), kNone) != node.inputs.rend();
  return !has_gap ||
         (node.op.type == "ClipByValue" && dtype_of(graph, node.inputs[0]) == DataType::kFloat);
}

bool has_vector_form(const Graph& graph, const Node& node) {
  std::vector<reference::FormulaContext::Operand> operands;
  for (std::size_t i = 0; i < node.inputs.size(); ++i) {
    auto& operand = operands.emplace_back();
    if (node.inputs[i] == kNone) continue;
    operand.dtype = dtype_of(graph, node.inputs[i]);
    const ConstantPtr constant = constant_input(graph, node, i);
    if (constant && element_count(constant->desc().shape) == 1)
      operand.number = reference::to_double(constant->view());
  }
  return reference::vector_form(node.op.type, {node.op.attrs, node.op.version, operands,
                                               dtype_of(graph, node.outputs[0])})
      .has_value();
}

bool is_byte_conversion(const Graph& graph, const Node& node) {
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

bool is_step(const Graph& graph, NodeId id, const Shape& shape, StepTypes types) {
  const Node& node = graph.nodes[id];
  if (node.is_dead || !node.op.epilogue.empty() || node.outputs.size() != 1) return false;
  if (!reference::is_kind(node.op.type, reference::OpKind::kElementwise)) return false;
  if (shape_of(graph, node.outputs[0]) != shape || !is_static(shape)) return false;
  if (!has_operands(graph, node) || !has_vector_form(graph, node)) return false;
  if (is_quantisation(node)) return is_byte_conversion(graph, node);
  const auto is_taken = [&](ValueId value) {
    return value == kNone ||
           (is_static(shape_of(graph, value)) &&
            (types == StepTypes::kAny || dtype_of(graph, value) == DataType::kFloat));
  };
  return is_taken(node.outputs[0]) && std::ranges::all_of(node.inputs, is_taken);
}

NodeId fuse_steps(Graph& graph, NodeId anchor, const std::vector<NodeId>& steps) {
  for (const NodeId id : steps) fill_absent_operands(graph, id);
  StepWriter writer(graph, anchor);
  for (const NodeId id : steps) writer.add(graph.nodes[id]);
  std::vector<NodeId> old = steps;
  if (anchor != kNone) old.insert(old.begin(), anchor);
  return replace_nodes(graph, std::move(old), std::move(writer.fused));
}

}  // namespace aoe::graph
