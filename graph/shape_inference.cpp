// Shape inference over nodes and graphs.
#include "graph/shape_inference.h"

#include <algorithm>
#include <string_view>

#include "base/check.h"
#include "base/error.h"
#include "graph/passes.h"

namespace aoe::graph {
namespace {

/// Values are carried along up to this size: enough for shapes, axes and scales, too small to cost
/// anything.
constexpr std::size_t kMostKnownBytes = 16384;

TensorDesc merge(TensorDesc inferred, const TensorDesc& declared) {
  if (declared.shape.size() == inferred.shape.size() && has_known_rank(declared)) {
    for (std::size_t i = 0; i < inferred.shape.size(); ++i)
      if (inferred.shape[i] == kUnknownDim) inferred.shape[i] = declared.shape[i];
  }
  inferred.format = declared.format;
  inferred.c0 = declared.c0;
  return inferred;
}

/// Runs `f`; its errors get the node's name.
template <typename F>
auto naming(const Node& node, F&& f) {
  try {
    return f();
  } catch (const Error& error) {
    throw Error(error.code(), error.what(), "node " + node.name);
  }
}

}  // namespace

ConstantPtr ShapeInference::known_value(ValueId id) const {
  if (graph_.values[id].constant) return graph_.values[id].constant;
  const auto found = known_.find(id);
  return found == known_.end() ? nullptr : found->second;
}

std::vector<Tensor> ShapeInference::inputs_of(const Node& node) const {
  std::vector<Tensor> inputs;
  for (const ValueId id : node.inputs) {
    if (id == kNone) {
      inputs.emplace_back();
    } else if (const ConstantPtr constant = known_value(id)) {
      inputs.push_back(constant->view());
    } else {
      inputs.push_back({graph_.values[id].desc, nullptr});
    }
  }
  return inputs;
}

void ShapeInference::infer_node(NodeId id) {
  const Node& node = graph_.nodes[id];
  if (!node.bodies.empty()) return;  // the importer has settled what they give
  const auto is_unknown = [&](ValueId input) {
    if (input == kNone) return false;
    const TensorDesc& desc = graph_.values[input].desc;
    return desc.dtype == DataType::kUndefined || !has_known_rank(desc);
  };
  if (std::ranges::any_of(node.inputs, is_unknown)) return;  // the declarations stay
  std::vector<Tensor> inputs = inputs_of(node);
  naming(node, [&] { hide_what_is_too_much(node, inputs); });
  std::vector<TensorDesc> descs;
  try {
    descs = naming(node, [&] { return reference::infer(node.op, inputs, node.outputs.size()); });
  } catch (const reference::Undetermined&) {
    return;
  }
  AOE_CHECK(descs.size() == node.outputs.size(),
            node.op.type + " infers another number of outputs");
  for (std::size_t i = 0; i < descs.size(); ++i) {
    if (node.outputs[i] == kNone) continue;
    TensorDesc& desc = graph_.values[node.outputs[i]].desc;
    if (const auto asked = partial_.asked_shape(node, inputs))
      descs[i] = merge(std::move(descs[i]), {.dtype = descs[i].dtype, .shape = *asked});
    desc = merge(std::move(descs[i]), desc);
  }
  learn_values(node, inputs);
}

/// Inferring the shape of what such ops give out costs as much as computing it.
void ShapeInference::hide_what_is_too_much(const Node& node, std::vector<Tensor>& inputs) {
  const reference::OpDef* def = reference::ops().find(node.op.type);
  if (def == nullptr || !def->infers_from_values ||
      std::ranges::any_of(inputs, [](const Tensor& t) { return t.is_present() && !t.data; }))
    return;
  const double work = evaluation_work(node.op, inputs, {});
  if (work <= budget_.work) {
    budget_.work -= work;
    return;
  }
  for (Tensor& input : inputs) input.data = nullptr;
}

void ShapeInference::learn_values(const Node& node, const std::vector<Tensor>& inputs) {
  const auto values = naming(node, [&] {
    const auto whole = evaluate(graph_, node, inputs, kMostKnownBytes, budget_);
    return whole.empty() ? partial_.learn(graph_, node, inputs, budget_) : whole;
  });
  for (std::size_t i = 0; i < values.size(); ++i)
    if (values[i]) known_[node.outputs[i]] = values[i];
}

void infer_shapes(Graph& graph) {
  EvaluationBudget budget;
  ShapeInference inference(graph, budget);
  for (const NodeId id : graph.topological_order()) inference.infer_node(id);
}

}  // namespace aoe::graph
