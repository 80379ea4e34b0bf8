// Evaluation of nodes by the reference, within a budget.
#include "graph/evaluation.h"

#include <algorithm>
#include <cmath>
#include <string_view>

namespace aoe::graph {
namespace {

/// Ops whose result depends on the shape of their input only.
bool reads_shape_only(const Node& node) {
  return (node.op.type == "Shape" || node.op.type == "Size") && node.op.epilogue.empty();
}

double elements(const TensorDesc& desc) {
  double count = 1;
  for (const std::int64_t dim : desc.shape) count *= static_cast<double>(std::max<std::int64_t>(dim, 0));
  return count;
}

double elements_of(const std::vector<Tensor>& inputs, std::size_t i) {
  return i < inputs.size() && inputs[i].is_present() ? elements(inputs[i].desc) : 0;
}

double last_dim(const Tensor& tensor) {
  return tensor.desc.shape.empty() ? 1 : static_cast<double>(tensor.desc.shape.back());
}

/// Products for each output element.
double kernel_elements(const reference::OpCall& call, const std::vector<Tensor>& inputs) {
  const std::size_t weight = call.type == "QLinearConv" ? 3 : 1;
  if (call.type.find("Pool") != std::string::npos) {
    double kernel = 1;
    for (const std::int64_t extent : call.attrs.get_ints("kernel_shape"))
      kernel *= static_cast<double>(extent);
    return kernel;
  }
  const double rows = weight < inputs.size() && !inputs[weight].desc.shape.empty()
                          ? static_cast<double>(inputs[weight].desc.shape[0])
                          : 1;
  return elements_of(inputs, weight) / std::max(rows, 1.0);
}

bool is_any_of(std::string_view type, std::initializer_list<std::string_view> types) {
  return std::ranges::find(types, type) != types.end();
}

}  // namespace

double evaluation_work(const reference::OpCall& call, const std::vector<Tensor>& inputs,
                       const std::vector<TensorDesc>& outputs) {
  double read = 0, written = 0;
  for (std::size_t i = 0; i < inputs.size(); ++i) read += elements_of(inputs, i);
  for (const TensorDesc& output : outputs) written += elements(output);
  const double plain = read + written;
  const std::string& type = call.type;
  const double first = elements_of(inputs, 0);
  if (type == "Conv2DTranspose") return plain + first * kernel_elements(call, inputs);
  if (type.find("Conv") != std::string::npos ||
      is_any_of(type, {"MaxPoolV3", "AvgPoolV2", "LpPool"}))
    return plain + written * kernel_elements(call, inputs);
  if (type.find("MatMul") != std::string::npos || type == "Gemm" || type == "Det") {
    const double k = inputs.empty() ? 1 : last_dim(inputs[0]);
    const double other = type == "Gemm" && !inputs[0].desc.shape.empty()
                             ? static_cast<double>(inputs[0].desc.shape[0])
                             : k;
    return plain + (type == "Det" ? first * k : written * std::max(k, other));
  }
  if (type == "LRN") return plain + written * static_cast<double>(call.attrs.get_int("size", 1));
  // Each output may look at each element of an input: no closer look is worth it.
  if (is_any_of(type, {"Einsum", "DFT", "STFT", "NonMaxSuppressionV7", "CommonRNN", "DynamicGRUV2",
                       "DynamicRNN", "MaxRoiPool", "ROIAlign", "FlashAttentionScore"})) {
    double product = 1;
    for (std::size_t i = 0; i < std::min<std::size_t>(inputs.size(), 3); ++i)
      product *= std::max(1.0, elements_of(inputs, i));
    return plain + product;
  }
  if (is_any_of(type, {"Unique", "TopKV2"})) return plain * 8 * std::log2(2 + first);
  if (type == "TfIdfVectorizer") {
    const auto longest = static_cast<double>(call.attrs.get_int("max_gram_length", 1));
    const auto skips = static_cast<double>(call.attrs.get_int("max_skip_count", 0));
    return plain + first * (skips + 1) * longest * longest;
  }
  if (is_any_of(type, {"Resize", "Upsample", "GridSample"})) return plain + 64 * (first + written);
  return plain;
}

std::vector<ConstantPtr> evaluate(const Graph& graph, const Node& node,
                                  const std::vector<Tensor>& inputs, std::size_t most_bytes,
                                  EvaluationBudget& budget) {
  const reference::OpDef* def = reference::ops().find(node.op.type);
  if (def != nullptr && !def->is_deterministic) return {};
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
  double work = reads_shape_only(node) ? 1 : evaluation_work(node.op, inputs, descs);
  work += static_cast<double>(node.op.epilogue.size()) * (descs.empty() ? 0 : elements(descs[0]));
  if (bytes > budget.bytes || work > budget.work) {
    ++budget.nodes_left_alone;
    return {};
  }
  budget.bytes -= bytes;
  budget.work -= work;
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
