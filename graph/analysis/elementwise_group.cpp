// Turning nodes into epilogue steps.
#include "graph/analysis/elementwise_group.h"

#include <algorithm>
#include <limits>

#include "graph/analysis/quantization.h"
#include "graph/rewrite.h"
#include "reference/tensors/widen.h"

namespace aoe::graph {
namespace {

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

Result<reference::Formula> vector_form(const Graph& graph, const Node& node) {
  std::vector<reference::FormulaContext::Operand> operands;
  for (std::size_t i = 0; i < node.inputs.size(); ++i) {
    auto& operand = operands.emplace_back();
    if (node.inputs[i] == kNone) continue;
    operand.dtype = dtype_of(graph, node.inputs[i]);
    const ConstantPtr constant = constant_input(graph, node, i);
    if (constant && element_count(constant->desc().shape) == 1)
      operand.number = reference::to_double(constant->view());
  }
  return reference::vector_form(
      node.op.type, {node.op.attrs, node.op.version, operands, dtype_of(graph, node.outputs[0])});
}

bool has_polynomial(const reference::Formula& formula) {
  using reference::Fn;
  const bool is_one = formula->fn >= Fn::kPow && formula->fn <= Fn::kAtanh;
  return (is_one && formula->fn != Fn::kSqrt) || std::ranges::any_of(formula->args, has_polynomial);
}

bool is_byte_conversion(const Graph& graph, const Node& node) {
  const bool to_bytes = node.op.type == "Quantize";
  const DataType in = dtype_of(graph, node.inputs[0]), out = dtype_of(graph, node.outputs[0]);
  const DataType real = to_bytes ? in : out;
  return real == DataType::kFloat && is_byte(to_bytes ? out : in) &&
         (!to_bytes || node.inputs.size() == 3) &&
         dtype_of(graph, node.inputs[1]) == DataType::kFloat;
}

}  // namespace

bool computes_by_polynomial(const Graph& graph, NodeId id) {
  const auto formula = vector_form(graph, graph.nodes[id]);
  return formula && has_polynomial(*formula);
}

bool is_quantisation(const Node& node) {
  return node.op.type == "Quantize" || node.op.type == "Dequantize";
}

bool is_step(const Graph& graph, NodeId id, const Shape& shape, StepTypes types) {
  const Node& node = graph.nodes[id];
  if (node.is_dead || node.outputs.size() != 1) return false;
  if (!reference::is_kind(node.op.type, reference::OpKind::kElementwise)) return false;
  if (shape_of(graph, node.outputs[0]) != shape || !is_static(shape)) return false;
  if (!has_operands(graph, node) || !vector_form(graph, node)) return false;
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
  std::vector<NodeId> old = steps;
  if (anchor != kNone) old.insert(old.begin(), anchor);
  Node fused = fused_node(graph, old, anchor != kNone);
  return replace_nodes(graph, std::move(old), std::move(fused));
}

}  // namespace aoe::graph
