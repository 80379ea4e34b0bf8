// fuse_parallel_products: matrix products of one input with constant weights become one, whose
// result is split by columns (the Q, K and V projections of an attention, the heads of a detector).
// The input is packed once, and few columns no longer run alone. An attention behind them reads its
// columns where they are in the joined result, so that nothing is copied; only what others read
// is split off.
//
// With the parameter "strassen" the joined product is marked as the rewrite `strassen` does: only products of many columns
// are worth that.
//
// A place names the products, then the attentions that are to read the joined result.
#include <algorithm>
#include <optional>

#include "graph/analysis/parallel_nodes.h"
#include "graph/analysis/strassen_product.h"
#include "graph/precision.h"
#include "graph/rewrite.h"
#include "graph/subgraphs/rewrite_plan.h"
#include "reference/products/attention.h"

namespace aoe::graph {
namespace {

using reference::AttentionShape;
using reference::MatrixView;

constexpr char kStrassen[] = "strassen";

bool is_transposed(const Node& node) {
  const reference::OpCall& op = reference::anchor(node.op);
  return op.type == "Gemm" && op.attrs.get_int("transB", 0) != 0;
}

std::int64_t columns_of(const Graph& graph, const Node& node) {
  return shape_of(graph, node.inputs[1])[is_transposed(node) ? 0 : 1];
}

/// A float32 product with constant weights whose other operands are constants.
bool is_plain_product(const Graph& graph, const Node& node) {
  const std::string& type = reference::anchor(node.op).type;
  if (node.is_dead || (type != "MatMulV2" && type != "Gemm") || node.outputs.size() != 1 ||
      node.inputs.size() < 2)
    return false;
  if (dtype_of(graph, node.inputs[0]) != DataType::kFloat || constant_input(graph, node, 0))
    return false;
  for (std::size_t i = 1; i < node.inputs.size(); ++i) {
    if (node.inputs[i] == kNone) continue;
    const Value& value = graph.values[node.inputs[i]];
    if (!value.constant || value.desc.dtype != DataType::kFloat) return false;
  }
  const Shape& out = shape_of(graph, node.outputs[0]);
  return shape_of(graph, node.inputs[1]).size() == 2 && out.size() >= 2 && is_static(out) &&
         is_static(shape_of(graph, node.inputs[0]));
}

/// A number for each column: a bias.
bool is_row(const Graph& graph, const Node& node, std::size_t i) {
  const Shape& shape = shape_of(graph, node.inputs[i]);
  const std::int64_t columns = columns_of(graph, node);
  return !shape.empty() && shape.back() == columns && element_count(shape) == columns;
}

/// Whether the i-th inputs are the same number for all columns of all nodes, so that one will do.
bool is_shared_scalar(const Graph& graph, const std::vector<NodeId>& nodes, std::size_t i) {
  const ConstantPtr first = constant_input(graph, graph.nodes[nodes[0]], i);
  return std::ranges::all_of(nodes, [&](NodeId id) {
    const ConstantPtr each = constant_input(graph, graph.nodes[id], i);
    return element_count(each->desc().shape) == 1 && are_equal(*first, *each);
  });
}

bool are_rows_alike(const Graph& graph, const std::vector<NodeId>& nodes, std::size_t i) {
  const std::size_t rank = shape_of(graph, graph.nodes[nodes[0]].inputs[i]).size();
  return std::ranges::all_of(nodes, [&](NodeId id) {
    const Node& node = graph.nodes[id];
    return is_row(graph, node, i) && shape_of(graph, node.inputs[i]).size() == rank;
  });
}

bool can_join(const Graph& graph, const std::vector<NodeId>& nodes) {
  const Node& first = graph.nodes[nodes[0]];
  for (const NodeId id : nodes) {
    const Node& node = graph.nodes[id];
    if (!(node.op == first.op) || node.inputs.size() != first.inputs.size() ||
        node.inputs[0] != first.inputs[0])
      return false;
    for (std::size_t i = 2; i < node.inputs.size(); ++i)
      if ((node.inputs[i] == kNone) != (first.inputs[i] == kNone)) return false;
  }
  for (std::size_t i = 2; i < first.inputs.size(); ++i)
    if (first.inputs[i] != kNone && !is_shared_scalar(graph, nodes, i) &&
        !are_rows_alike(graph, nodes, i))
      return false;
  return true;
}

/// A part of the joined result: its columns there.
struct Part {
  ValueId value = kNone;
  std::int64_t begin = 0, columns = 0;
};

struct Joined {
  std::vector<Part> parts;
  std::int64_t columns = 0;
};

Joined joined_parts(const Graph& graph, const std::vector<NodeId>& products) {
  Joined joined;
  for (const NodeId id : products) {
    const Node& node = graph.nodes[id];
    joined.parts.push_back({node.outputs[0], joined.columns, columns_of(graph, node)});
    joined.columns += joined.parts.back().columns;
  }
  return joined;
}

/// The view of a part as a view of the whole, whose rows are longer. Steps go from row to row or
/// from column to column; "no" when one does both.
bool move_into_whole(MatrixView& view, std::vector<std::pair<std::int64_t*, std::int64_t>> steps,
                     const Part& part, std::int64_t whole) {
  const std::int64_t n = part.columns;
  std::int64_t last_column = view.offset % n;
  for (const auto& [stride, extent] : steps)
    if (*stride % n != 0) last_column += *stride * (extent - 1);
  if (last_column >= n) return false;
  view.offset = view.offset / n * whole + view.offset % n + part.begin;
  for (const auto& [stride, extent] : steps)
    if (*stride % n == 0) *stride = *stride / n * whole;
  return true;
}

/// The attention with those of its operands that are parts read from the whole; nothing when none
/// is, or the strides of one cannot say it.
std::optional<Node> reading_whole(const Node& attention, const Joined& joined, ValueId whole) {
  const bool has_mask = has_input(attention, 3);
  AttentionShape shape = reference::attention_shape(attention.op.attrs, has_mask);
  struct Reading {
    MatrixView* view;
    std::int64_t rows, columns;
  };
  const Reading readings[] = {{&shape.query, shape.queries, shape.depth},
                              {&shape.key, shape.keys, shape.depth},
                              {&shape.value, shape.keys, shape.value_depth}};
  Node moved = attention;
  bool has_part = false;
  for (std::size_t i = 0; i < std::size(readings); ++i) {
    const auto part = std::ranges::find(joined.parts, attention.inputs[i], &Part::value);
    if (part == joined.parts.end()) continue;
    const auto& [view, rows, columns] = readings[i];
    std::vector<std::pair<std::int64_t*, std::int64_t>> steps = {{&view->row, rows},
                                                                 {&view->column, columns}};
    for (std::size_t d = 0; d < shape.batch.size(); ++d)
      steps.emplace_back(&view->batch[d], shape.batch[d]);
    if (!move_into_whole(*view, steps, *part, joined.columns)) return std::nullopt;
    moved.inputs[i] = whole;
    has_part = true;
  }
  if (!has_part) return std::nullopt;
  moved.op.attrs = reference::to_attrs(shape, has_mask);
  return moved;
}

bool is_attention(const Node& node) {
  return !node.is_dead && node.op.type == "FlashAttentionScore";
}

/// The joined product as it is, then by Strassen's algorithm where that may pay.
std::vector<RewriteParams> choices(const Graph& graph, const Node& product, const Joined& joined,
                                   const Hardware& hardware) {
  const std::int64_t columns = columns_of(graph, product);
  const std::int64_t steps =
      element_count(shape_of(graph, product.inputs[1])) / std::max<std::int64_t>(1, columns);
  const std::int64_t rows =
      element_count(shape_of(graph, product.outputs[0])) / std::max<std::int64_t>(1, columns);
  const bool is_fixed =
      allows_bf16(product.op) || allows_fp16(product.op) || is_high_precision(product.op);
  if (is_fixed || strassen_share(rows, joined.columns, steps, hardware) <= 0) return {{}};
  return {{}, {{kStrassen, 1}}};
}

std::vector<Place> find_fuse_parallel_products(const Graph& graph, const Hardware& hardware) {
  const auto groups = parallel_groups(
      graph, [&](const Node& node) { return is_plain_product(graph, node); },
      [&](const std::vector<NodeId>& group) { return can_join(graph, group); });
  std::vector<Place> places;
  for (const std::vector<NodeId>& group : groups) {
    if (group.size() > kMostParallel) continue;
    const Joined joined = joined_parts(graph, group);
    std::vector<NodeId> nodes = group;
    for (const Part& part : joined.parts)
      for (const NodeId reader : graph.consumers(part.value))
        if (std::ranges::find(nodes, reader) == nodes.end() && is_attention(graph.nodes[reader]) &&
            reading_whole(graph.nodes[reader], joined, kNone))
          nodes.push_back(reader);
    places.push_back({.nodes = std::move(nodes),
                      .choices = choices(graph, graph.nodes[group[0]], joined, hardware)});
  }
  return places;
}

/// What others than the attentions read, as values of their own; nothing when nobody does.
void split_off(Graph& graph, const std::string& name, ValueId whole, const Joined& joined) {
  Node split{.name = name, .op = call_of("SplitV")};
  std::vector<std::int64_t> sizes;
  bool is_read = false;
  for (const Part& part : joined.parts) {
    const bool stays = graph.is_output(part.value) || !graph.consumers(part.value).empty();
    split.outputs.push_back(stays ? part.value : kNone);
    sizes.push_back(part.columns);
    is_read |= stays;
  }
  if (!is_read) return;
  split.op.attrs.set("axis", static_cast<std::int64_t>(shape_of(graph, whole).size()) - 1);
  split.inputs = {whole, add_ints(graph, name + "_sizes", sizes)};
  graph.add_node(std::move(split));
}

Result<void> apply_fuse_parallel_products(Graph& graph, const std::vector<NodeId>& nodes,
                                          const RewriteParams& params) {
  const auto first_attention =
      std::ranges::find_if(nodes, [&](NodeId id) { return is_attention(graph.nodes[id]); });
  const std::vector<NodeId> products(nodes.begin(), first_attention);
  const std::vector<NodeId> attentions(first_attention, nodes.end());
  if (products.size() < kFewestParallel) return Unexpected("one product has nothing to join");
  for (const NodeId id : products)
    if (!is_plain_product(graph, graph.nodes[id])) return Unexpected("no plain product");
  if (!can_join(graph, products))
    return Unexpected("the products differ in more than their weights");
  const Joined joined = joined_parts(graph, products);
  for (const NodeId id : attentions)
    if (!is_attention(graph.nodes[id]) || !reading_whole(graph.nodes[id], joined, kNone))
      return Unexpected("no attention over the products");

  Node fused = graph.nodes[products[0]];
  for (std::size_t i = 1; i < fused.inputs.size(); ++i) {
    if (fused.inputs[i] == kNone) continue;
    if (i == 1)
      fused.inputs[i] = joined_constants(graph, products, i, is_transposed(fused) ? 0 : 1);
    else if (!is_shared_scalar(graph, products, i))
      fused.inputs[i] =
          joined_constants(graph, products, i, shape_of(graph, fused.inputs[i]).size() - 1);
  }
  TensorDesc desc = graph.values[fused.outputs[0]].desc;
  desc.shape.back() = joined.columns;
  const ValueId whole =
      add_intermediate(graph, graph.values[fused.outputs[0]].name + "_joined", desc);
  fused.outputs = {whole};
  if (const auto given = params.find(kStrassen); given != params.end() && given->second != 0)
    mark_by_strassen(fused);
  const std::string split_name = fused.name + "_split";
  replace_nodes(graph, products, std::move(fused));
  for (const NodeId id : attentions)
    *graph.edit(id) = *reading_whole(graph.nodes[id], joined, whole);
  split_off(graph, split_name, whole, joined);
  return {};
}

}  // namespace

void register_fuse_parallel_products(RewriteRegistry& registry) {
  registry.add({.kind = "fuse_parallel_products",
                .version = 1,
                .find = find_fuse_parallel_products,
                .apply = apply_fuse_parallel_products});
}

}  // namespace aoe::graph
