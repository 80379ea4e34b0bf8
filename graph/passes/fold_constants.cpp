// fold_constants: nodes that read constants only (or, like Shape, a static shape) become constants,
// computed by the reference. Nodes that give out a graph output stay: every output has a producer.
// Quantised weights and biases stay integers until fuse_quantized has seen them; fold_dequantized then folds the rest.
#include <algorithm>

#include "base/log.h"
#include "graph/evaluation.h"
#include "graph/pass_budget.h"
#include "graph/passes.h"
#include "graph/rewrite.h"

namespace aoe::graph {
namespace {

/// Of one constant: the weights of light models (ConstantOfShape) are to be folded, an Expand to terabytes is not.
constexpr std::size_t kMostFoldedBytes = std::size_t{1} << 30;

bool is_foldable(const Graph& graph, const Node& node) {
  for (const ValueId output : node.outputs)
    if (output != kNone && graph.is_output(output)) return false;
  return reads_shape_only(node) || std::ranges::all_of(node.inputs, [&](ValueId input) {
           return input == kNone || graph.values[input].constant;
         });
}

bool dequantises_weights(const Graph& graph, const Node& node) {
  if (!is_type(node, "Dequantize")) return false;
  const DataType dtype = dtype_of(graph, node.inputs[0]);
  return size_bytes(dtype) == 1 || dtype == DataType::kInt32;
}

bool fold(Graph& graph, NodeId id, EvaluationBudget& budget) {
  const Node& node = graph.nodes[id];
  if (!is_foldable(graph, node)) return false;
  std::vector<Tensor> inputs;
  for (const ValueId input : node.inputs) {
    if (input == kNone)
      inputs.emplace_back();
    else if (graph.values[input].constant)
      inputs.push_back(graph.values[input].constant->view());
    else
      inputs.push_back({graph.values[input].desc, nullptr});
  }
  const std::vector<ConstantPtr> results = evaluate(graph, node, inputs, kMostFoldedBytes, budget);
  if (results.empty()) return false;
  const std::vector<ValueId> read = node.inputs;
  graph.remove_node(id);
  for (std::size_t i = 0; i < results.size(); ++i)
    if (results[i]) graph.values[graph.nodes[id].outputs[i]].constant = results[i];
  for (const ValueId input : read)  // a chain of large constants is not kept whole
    if (input != kNone && graph.consumers(input).empty()) graph.values[input].constant.reset();
  return true;
}

/// Folds the nodes that `is_wanted` holds for.
template <typename Wanted>
bool fold_all(Graph& graph, Wanted is_wanted) {
  bool changed = false;
  EvaluationBudget own;
  PassBudget* const of_all = PassBudget::current();
  EvaluationBudget& budget = of_all != nullptr ? of_all->evaluation : own;
  budget.nodes_left_alone = 0;
  for (const NodeId id : graph.topological_order())
    if (is_wanted(graph.nodes[id])) changed |= fold(graph, id, budget);
  if (budget.nodes_left_alone > 0)
    logger("graph")->info(
        "{} nodes that read constants only stay operators: folding them would take more than the "
        "{} bytes or {:.1e} steps that are left",
        budget.nodes_left_alone, budget.bytes, budget.work);
  return changed;
}

}  // namespace

bool fold_constants(Graph& graph) {
  return fold_all(graph, [&](const Node& node) { return !dequantises_weights(graph, node); });
}

bool fold_dequantized(Graph& graph) {
  return fold_all(graph, [](const Node&) { return true; });
}

}  // namespace aoe::graph
