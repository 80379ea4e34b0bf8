// strassen: a large product with constant weights, a 1x1 convolution included, takes seven products of half the size
// instead of eight (attribute `strassen`; Impls gemm_strassen and conv_strassen). The weights take 7/4 of their memory
// then, and come from there: whether that pays shows in the whole model.
#include <algorithm>

#include "graph/analysis/strassen_product.h"
#include "graph/precision.h"
#include "graph/rewrite.h"
#include "graph/subgraphs/rewrite_plan.h"

namespace aoe::graph {
namespace {

/// rows x steps times steps x columns.
struct Product {
  std::int64_t rows = 0, columns = 0, steps = 0;
};

bool is_pointwise(const Graph& graph, const Node& node, const Shape& weights) {
  const reference::OpCall& op = reference::anchor(node.op);
  const Shape &in = shape_of(graph, node.inputs[0]), &out = shape_of(graph, node.outputs[0]);
  return weights.size() == 4 && weights[2] == 1 && weights[3] == 1 && in[2] == out[2] &&
         in[3] == out[3] && op.attrs.get_int("group", 1) == 1 &&
         op.attrs.get_int("input_shuffle", 1) == 1;
}

/// What the node multiplies with constant weights; "no" when it does something else.
Result<Product> product_of(const Graph& graph, const Node& node) {
  const reference::OpCall& op = reference::anchor(node.op);
  const bool is_convolution = op.type == "Conv2D";
  const bool is_matrix_product = op.type == "MatMulV2" || op.type == "Gemm";
  if (node.is_dead || (!is_convolution && !is_matrix_product) || node.outputs.size() != 1)
    return Unexpected("no product");
  const ConstantPtr weights = constant_input(graph, node, 1);
  if (!weights || constant_input(graph, node, 0) || weights->desc().dtype != DataType::kFloat)
    return Unexpected("needs constant weights of float32");
  const Shape &in = shape_of(graph, node.inputs[0]), &out = shape_of(graph, node.outputs[0]);
  if (!is_static(in) || !is_static(out)) return Unexpected("shapes are not static");
  if (allows_bf16(node.op) || allows_fp16(node.op)) return Unexpected("precision may be lower");
  if (is_high_precision(node.op)) return Unexpected("high precision asks for plain sums");
  if (is_by_strassen(node.op)) return Unexpected("has been rewritten");
  if (is_convolution) {
    if (!is_pointwise(graph, node, weights->desc().shape))
      return Unexpected("no 1x1 convolution of stride 1");
    return Product{out[0] * out[2] * out[3], out[1], in[1]};
  }
  if (weights->desc().shape.size() != 2 || op.attrs.get_int("transA", 0) != 0 || out.empty())
    return Unexpected("the weights are not one matrix");
  return Product{element_count(out) / std::max<std::int64_t>(1, out.back()), out.back(), in.back()};
}

std::vector<Place> find_strassen(const Graph& graph, const Hardware& hardware) {
  std::vector<Place> places;
  for (const NodeId id : graph.topological_order()) {
    const Result<Product> product = product_of(graph, graph.nodes[id]);
    if (!product) continue;
    places.push_back({.nodes = {id},
                      .expected_share = strassen_share(product->rows, product->columns,
                                                       product->steps, hardware)});
  }
  return places;
}

Result<void> apply_strassen(Graph& graph, const std::vector<NodeId>& nodes, const RewriteParams&) {
  if (nodes.size() != 1) return Unexpected("one node at a time");
  const Result<Product> product = product_of(graph, graph.nodes[nodes[0]]);
  if (!product) return Unexpected(product.error());
  mark_by_strassen(*graph.edit(nodes[0]));
  return {};
}

}  // namespace

void register_strassen(RewriteRegistry& registry) {
  registry.add({.kind = "strassen", .version = 1, .find = find_strassen, .apply = apply_strassen});
}

}  // namespace aoe::graph
