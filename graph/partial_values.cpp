#include "graph/partial_values.h"

#include <algorithm>
#include <limits>
#include <span>
#include <string_view>

#include "reference/op.h"

namespace aoe::graph {
namespace {

constexpr std::int64_t kMissing = std::numeric_limits<std::int64_t>::min();
constexpr std::size_t kMostBytes = 1024;

std::span<const std::int64_t> entries(const Constant& list) {
  return {static_cast<const std::int64_t*>(list.data()), list.size_bytes() / sizeof(std::int64_t)};
}

bool is_whole(const Constant& list) {
  return std::ranges::find(entries(list), kMissing) == entries(list).end();
}

ConstantPtr open_shape(const Node& node, const Tensor& input, const TensorDesc& output) {
  const auto list = std::make_shared<Constant>(output);
  const Tensor given[] = {input};
  const Tensor result[] = {{output, list->mutable_data()}};
  reference::run(node.op, given, result);
  auto* dims = static_cast<std::int64_t*>(list->mutable_data());
  std::replace(dims, dims + element_count(output.shape), kUnknownDim, kMissing);
  return list;
}

/// One dimension that Reshape or Expand give for an entry of their list.
std::int64_t dim_for(std::int64_t entry, std::string_view type) {
  const std::int64_t least = type == "Expand" ? 2 : type == "Reshape" ? 1 : 0;
  return entry >= least ? entry : kUnknownDim;
}

}  // namespace

std::vector<ConstantPtr> PartialValues::learn(const Graph& graph, const Node& node,
                                              std::vector<Tensor> inputs,
                                              EvaluationBudget& budget) {
  std::vector<ConstantPtr> lists = moved(graph, node, std::move(inputs), budget);
  for (std::size_t i = 0; i < lists.size(); ++i) {
    if (!lists[i] || is_whole(*lists[i])) continue;
    known_[node.outputs[i]] = std::move(lists[i]);
    lists[i] = nullptr;
  }
  return lists;
}

std::vector<ConstantPtr> PartialValues::moved(const Graph& graph, const Node& node,
                                              std::vector<Tensor> inputs,
                                              EvaluationBudget& budget) const {
  const auto is_list = [&](ValueId id) {
    return id == kNone || (graph.values[id].desc.dtype == DataType::kInt64 &&
                           is_static(graph.values[id].desc.shape));
  };
  if (!std::ranges::all_of(node.outputs, is_list)) return {};
  if (node.op.type == "Shape")
    return {open_shape(node, inputs[0], graph.values[node.outputs[0]].desc)};
  bool has_open = false;
  for (std::size_t i = 0; i < reference::moved_inputs(node.op.type, inputs.size()); ++i) {
    const auto list = known_.find(node.inputs[i]);
    if (inputs[i].data != nullptr || list == known_.end()) continue;
    inputs[i] = list->second->view();
    has_open = true;
  }
  return has_open ? evaluate(graph, node, inputs, kMostBytes, budget) : std::vector<ConstantPtr>{};
}

std::optional<Shape> PartialValues::asked_shape(const Node& node,
                                                const std::vector<Tensor>& inputs) const {
  const std::string& type = node.op.type;
  const std::size_t at = type == "Fill" ? 0 : 1;
  if (type != "Fill" && type != "Reshape" && type != "Expand") return std::nullopt;
  const auto list = known_.find(node.inputs[at]);
  if (inputs[at].data != nullptr || list == known_.end()) return std::nullopt;
  Shape shape;
  for (const std::int64_t entry : entries(*list->second)) shape.push_back(dim_for(entry, type));
  return shape;
}

}  // namespace aoe::graph
