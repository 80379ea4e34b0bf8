// strassen: a large product with constant weights takes seven products of half the size instead of eight (attribute
// `strassen`; Impl gemm_strassen). The weights take 7/4 of their memory then, and come from there: whether that pays shows
// in the whole model.
#include <algorithm>

#include "graph/precision.h"
#include "graph/rewrite.h"
#include "graph/rewrite_plan.h"

namespace aoe::graph {
namespace {

/// Below, sums of blocks weigh about as much as what they save.
constexpr std::int64_t kFewestRows = 32, kFewestColumns = 256, kFewestSteps = 256;

bool is_candidate(const Graph& graph, const Node& node) {
  if (node.is_dead || (node.op.type != "MatMulV2" && node.op.type != "Gemm") ||
      node.outputs.size() != 1 || node.inputs.size() < 2)
    return false;
  if (node.op.attrs.get_int("strassen", 0) != 0 || node.op.attrs.get_int("transA", 0) != 0 ||
      allows_bf16(node.op) || allows_fp16(node.op))
    return false;
  const ConstantPtr weights = constant_input(graph, node, 1);
  return weights && !constant_input(graph, node, 0) && weights->desc().shape.size() == 2 &&
         weights->desc().dtype == DataType::kFloat && is_static(shape_of(graph, node.outputs[0])) &&
         is_static(shape_of(graph, node.inputs[0]));
}

std::vector<Place> find(const Graph& graph) {
  std::vector<Place> places;
  for (const NodeId id : graph.topological_order()) {
    const Node& node = graph.nodes[id];
    if (!is_candidate(graph, node)) continue;
    const Shape& out = shape_of(graph, node.outputs[0]);
    const std::int64_t columns = out.back(),
                       rows = element_count(out) / std::max<std::int64_t>(1, columns);
    const std::int64_t steps = shape_of(graph, node.inputs[0]).back();
    const bool is_large = rows >= kFewestRows && columns >= kFewestColumns && steps >= kFewestSteps;
    places.push_back({.nodes = {id}, .expected_share = is_large ? 0.05 : 0});
  }
  return places;
}

Result<void> apply(Graph& graph, const std::vector<NodeId>& nodes, const RewriteParams&) {
  if (nodes.size() != 1 || !is_candidate(graph, graph.nodes[nodes[0]]))
    return Unexpected("no product with constant weights");
  graph.nodes[nodes[0]].op.attrs.set("strassen", std::int64_t{1});
  return {};
}

}  // namespace

void register_strassen(RewriteRegistry& registry) {
  registry.add({.kind = "strassen", .version = 1, .find = find, .apply = apply});
}

}  // namespace aoe::graph
