// The permission to round, as an attribute.
#include "graph/precision.h"

#include <algorithm>

namespace aoe::graph {
namespace {

constexpr const char* kAllowBf16 = "allow_bf16";
constexpr const char* kAllowFp16 = "allow_fp16";

}  // namespace

std::vector<NodeId> bf16_candidates(const Graph& graph) {
  std::vector<NodeId> candidates;
  for (const NodeId id : graph.topological_order()) {
    const Node& node = graph.nodes[id];
    const bool sums_products = node.op.type == "MatMulV2" || node.op.type == "Gemm";
    if (!sums_products) continue;
    const Value &left = graph.values[node.inputs[0]], &right = graph.values[node.inputs[1]];
    if (left.desc.dtype == DataType::kFloat && right.constant != nullptr) candidates.push_back(id);
  }
  return candidates;
}

void allow_bf16(Node& node) {
  node.op.attrs.set(kAllowBf16, std::int64_t{1});
}

bool allows_bf16(const reference::OpCall& op) {
  return op.attrs.get_int(kAllowBf16, 0) != 0;
}

void allow_fp16(Node& node) {
  node.op.attrs.set(kAllowFp16, std::int64_t{1});
}

bool allows_fp16(const reference::OpCall& op) {
  return op.attrs.get_int(kAllowFp16, 0) != 0;
}

bool has_byte_products(const Graph& graph) {
  return std::ranges::any_of(graph.nodes, [](const Node& node) {
    return !node.is_dead && (node.op.type == "QuantConv2D" || node.op.type == "QuantMatMul");
  });
}

}  // namespace aoe::graph
