// Evaluation of nodes by the reference, within a budget.
#include "graph/evaluation.h"

#include "base/stop_scope.h"
#include "reference/texts/texts.h"

namespace aoe::graph {

EvaluationBudget EvaluationBudget::for_weights(std::size_t bytes) {
  constexpr std::size_t kTimes = 4;  // bytes to float32
  EvaluationBudget budget;
  budget.bytes += kTimes * bytes;
  budget.work += 2.0 * kTimes * static_cast<double>(bytes);
  return budget;
}

EvaluationBudget EvaluationBudget::for_shapes() {
  constexpr double kWork = 1e8;
  return {.work = kWork};
}

bool reads_shape_only(const Node& node) {
  const reference::OpDef* def = reference::ops().find(node.op.type);
  return def != nullptr && def->reads_shape_only;
}

double evaluation_work(const reference::OpCall& call, const std::vector<Tensor>& inputs,
                       const std::vector<TensorDesc>& outputs) {
  std::vector<TensorDesc> descs;
  for (const Tensor& input : inputs) descs.push_back(input.desc);
  return reference::work(call, descs, outputs);
}

std::vector<ConstantPtr> evaluate(const Graph& graph, const Node& node,
                                  const std::vector<Tensor>& inputs, std::size_t most_bytes,
                                  EvaluationBudget& budget) {
  const reference::OpDef* def = reference::ops().find(node.op.type);
  if (def != nullptr && !def->is_deterministic) return {};
  if (reference::reads_texts(node.op.type) && TextPool::current() == nullptr) return {};
  for (const Tensor& input : inputs) {
    const bool is_known =
        input.data != nullptr || (reads_shape_only(node) && is_static(input.desc.shape));
    if (input.is_present() && !is_known) return {};
  }
  std::vector<TensorDesc> descs;
  std::size_t bytes = 0;
  for (const ValueId id : node.outputs) {
    descs.push_back(id == kNone ? TensorDesc{} : graph.values[id].desc);
    if (id == kNone) continue;
    if (!is_static(descs.back().shape) || size_bytes(descs.back().dtype) == 0) return {};
    bytes += storage_bytes(descs.back());
    if (bytes > most_bytes) return {};
  }
  const double work = reads_shape_only(node) ? 1 : evaluation_work(node.op, inputs, descs);
  if (bytes > budget.bytes || work > budget.work) {
    ++budget.nodes_left_alone;
    return {};
  }
  budget.bytes -= bytes;
  budget.work -= work;
  end_if_stopped();
  std::vector<std::shared_ptr<Constant>> results;
  std::vector<Tensor> outputs;
  for (std::size_t i = 0; i < descs.size(); ++i) {
    results.push_back(node.outputs[i] == kNone ? nullptr : std::make_shared<Constant>(descs[i]));
    outputs.push_back(results.back() ? Tensor{descs[i], results.back()->mutable_data()} : Tensor{});
  }
  reference::run(node.op, inputs, outputs);
  return {results.begin(), results.end()};
}

}  // namespace aoe::graph
