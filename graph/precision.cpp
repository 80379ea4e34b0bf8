// The permission to round, as an attribute.
#include "graph/precision.h"

#include <algorithm>

#include "reference/precision_attrs.h"

namespace aoe::graph {
namespace {

constexpr const char* kAllowBf16 = "allow_bf16";
constexpr const char* kAllowFp16 = "allow_fp16";
constexpr const char* kKeepDtype = "keep_dtype";

/// Over two axes, and every output channel sums up all input channels. Of few of these, as a stem has, the windows' rows make
/// pairs (direct_bf16), where there are enough of both.
bool is_whole_convolution(const Graph& graph, const Node& node) {
  constexpr std::int64_t kLeastRows = 8;
  const reference::OpCall& op = reference::anchor(node.op);
  if (op.type != "Conv2D" || op.attrs.get_int("group", 1) != 1) return false;
  const Shape& weight = graph.values[node.inputs[1]].desc.shape;
  return weight.size() == 4 && weight[1] * weight[2] >= kLeastRows;
}

}  // namespace

std::vector<NodeId> bf16_candidates(const Graph& graph) {
  std::vector<NodeId> candidates;
  for (const NodeId id : graph.topological_order()) {
    const Node& node = graph.nodes[id];
    const reference::OpCall& op = reference::anchor(node.op);
    const bool is_product = reference::is_kind(op.type, reference::OpKind::kProduct);
    if ((!is_product && !is_whole_convolution(graph, node)) || !has_faster_sums(node.op) ||
        is_high_precision(node.op) || op.attrs.has(kKeepDtype))
      continue;
    const Value &left = graph.values[node.inputs[0]], &right = graph.values[node.inputs[1]];
    if (left.desc.dtype == DataType::kFloat && right.constant != nullptr) candidates.push_back(id);
  }
  return candidates;
}

void allow_bf16(Node& node) {
  reference::edit_anchor(node.op).attrs.set(kAllowBf16, std::int64_t{1});
}

bool allows_bf16(const reference::OpCall& op) {
  return reference::anchor(op).attrs.get_int(kAllowBf16, 0) != 0;
}

void allow_fp16(Node& node) {
  reference::edit_anchor(node.op).attrs.set(kAllowFp16, std::int64_t{1});
}

bool allows_fp16(const reference::OpCall& op) {
  return reference::anchor(op).attrs.get_int(kAllowFp16, 0) != 0;
}

bool has_faster_sums(const reference::OpCall& op) {
  const reference::OpDef* def = reference::anchor_def(op);
  return def != nullptr && def->has_faster_sums;
}

void ask_high_precision(Node& node) {
  reference::edit_anchor(node.op).attrs.set(reference::kHighPrecision, std::int64_t{1});
}

bool is_high_precision(const reference::OpCall& op) {
  return op.attrs.has(reference::kHighPrecision) ||
         std::ranges::any_of(reference::flat_steps(op), [](const reference::BodyStep& step) {
           return step.call.attrs.has(reference::kHighPrecision);
         });
}

void keep_dtype(Node& node) {
  reference::edit_anchor(node.op).attrs.set(kKeepDtype, std::int64_t{1});
}

void forget_kept_dtypes(Graph& graph) {
  for (std::size_t id = 0; id < graph.nodes.size(); ++id)
    if (reference::anchor(graph.nodes[id].op).attrs.has(kKeepDtype))
      reference::edit_anchor(graph.edit(static_cast<NodeId>(id))->op).attrs.erase(kKeepDtype);
}

bool has_byte_products(const Graph& graph) {
  return std::ranges::any_of(graph.nodes, [](const Node& node) {
    return !node.is_dead && reference::is_quantised(reference::anchor(node.op).type);
  });
}

}  // namespace aoe::graph
