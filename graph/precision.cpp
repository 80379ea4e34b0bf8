// The permission to round, as an attribute.
#include "graph/precision.h"

namespace aoe::graph {
namespace {

constexpr const char* kAttribute = "allow_bf16";

}  // namespace

int allow_bf16(Graph& graph) {
  int count = 0;
  for (Node& node : graph.nodes) {
    const bool sums_products = node.op.type == "MatMulV2" || node.op.type == "Gemm";
    if (!sums_products || graph.values[node.inputs[0]].desc.dtype != DataType::kFloat) continue;
    node.op.attrs.set(kAttribute, std::int64_t{1});
    ++count;
  }
  return count;
}

bool allows_bf16(const reference::OpCall& op) {
  return op.attrs.get_int(kAttribute, 0) != 0;
}

}  // namespace aoe::graph
