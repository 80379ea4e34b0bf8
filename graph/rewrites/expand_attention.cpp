// expand_attention: undoes the fusion of one attention: two matrix products with a softmax between
// them, the scale and the mask in the first one's epilogue. The scores go through memory, and heads
// are copied where the fused kernel reads and writes them with strides; in return, any Impl of a
// product may carry the two out, and block it as it likes.
#include <algorithm>

#include "graph/elementwise_group.h"
#include "graph/pieces.h"
#include "graph/rewrite.h"
#include "graph/rewrite_plan.h"
#include "graph/view_moves.h"
#include "reference/attention.h"

namespace aoe::graph {
namespace {

using reference::AttentionShape;
using reference::MatrixView;

/// Larger scores of one head leave the L1 of common cores; products of smaller ones know nothing
/// that the fused kernel, which carries out every float32 attention, does not.
constexpr std::int64_t kL1Bytes = 48 << 10;
/// Walks over scores cost the more, the less is computed for each: the pieces took 1.3 to 1.6 times
/// as long as the fused kernel with heads of 64 columns (Zen 5, untuned, 128 to 2,048 tokens), and
/// 1.04 to 1.3 times with 128 to 1,024.
constexpr std::int64_t kDeepHead = 128;
/// What goes away of the node's time where heads are deep and scores large, at a guess: the pieces
/// may win on cores of another kind.
constexpr double kExpectedShare = 0.02;

enum Input : std::size_t { kQuery, kKey, kValue, kMask };

/// The attention and how its operands become dense.
struct Expansion {
  AttentionShape shape;
  std::vector<ViewMove> query, key, value, mask, output;
};

/// A matrix in each batch. `repeats(d)`: batch dimension d is left at 1 where the view repeats, for
/// the product to broadcast.
template <typename Repeats>
std::vector<Factor> dims_of(const AttentionShape& s, const MatrixView& view, Factor row,
                            Factor column, Repeats repeats) {
  std::vector<Factor> dims;
  for (std::size_t d = 0; d < s.batch.size(); ++d)
    dims.push_back({view.batch[d] == 0 && repeats(d) ? 1 : s.batch[d], view.batch[d]});
  dims.push_back(row);
  dims.push_back(column);
  return dims;
}

Shape extents_of(const std::vector<Factor>& dims) {
  Shape shape;
  for (const Factor& dim : dims) shape.push_back(dim.extent);
  return shape;
}

Shape with_matrix(const AttentionShape& s, std::int64_t rows, std::int64_t columns) {
  Shape shape = s.batch;
  shape.insert(shape.end(), {rows, columns});
  return shape;
}

Result<void> read(const Graph& graph, const Node& node, Input input, const MatrixView& view,
                  const std::vector<Factor>& dims, std::vector<ViewMove>& moves) {
  const Shape& from = shape_of(graph, node.inputs[input]);
  Shape to = extents_of(dims);
  // A mask that all batches share may stay as it is.
  while (input == kMask && to.size() > from.size() && to.front() == 1) to.erase(to.begin());
  auto found = moves_to_view(from, view.offset, dims, to);
  if (!found)
    return Unexpected("input " + std::to_string(input) +
                      " is no view that nodes can copy: " + found.error());
  moves = std::move(found).value();
  return {};
}

Result<void> read_operands(const Graph& graph, const Node& node, Expansion& e) {
  const AttentionShape& s = e.shape;
  const auto always = [](std::size_t) { return true; };
  // Scores have all batches, for masks and values to meet.
  const auto key_has = [&](std::size_t d) { return s.key.batch[d] != 0; };
  const auto query =
      dims_of(s, s.query, {s.queries, s.query.row}, {s.depth, s.query.column}, key_has);
  const auto key = dims_of(s, s.key, {s.depth, s.key.column}, {s.keys, s.key.row}, always);
  const auto value =
      dims_of(s, s.value, {s.keys, s.value.row}, {s.value_depth, s.value.column}, always);
  for (auto done : {read(graph, node, kQuery, s.query, query, e.query),
                    read(graph, node, kKey, s.key, key, e.key),
                    read(graph, node, kValue, s.value, value, e.value)})
    if (!done) return done;
  if (!has_input(node, kMask)) return {};
  const auto once = [](std::int64_t extent, std::int64_t stride) {
    return Factor{stride == 0 ? 1 : extent, stride};
  };
  const auto mask =
      dims_of(s, s.mask, once(s.queries, s.mask.row), once(s.keys, s.mask.column), always);
  return read(graph, node, kMask, s.mask, mask, e.mask);
}

/// The result is a view of the product: its dimensions in the order in which they are written.
std::vector<ViewMove> moves_to_output(const AttentionShape& s) {
  const Shape product = with_matrix(s, s.queries, s.value_depth);
  std::vector<std::int64_t> written = s.output.batch;
  written.insert(written.end(), {s.output.row, s.output.column});
  std::vector<std::pair<std::int64_t, Factor>> dims;  // by where they step in the output
  std::int64_t stride = 1;
  for (std::size_t d = product.size(); d-- > 0; stride *= product[d])
    if (product[d] > 1) dims.push_back({written[d], {product[d], stride}});
  std::ranges::sort(dims, std::ranges::greater{}, [](const auto& dim) { return dim.first; });
  std::vector<Factor> view;
  for (const auto& [at, dim] : dims) view.push_back(dim);
  return moves_to_view(product, 0, view, s.output_shape).value();
}

Result<Expansion> expansion_of(const Graph& graph, const Node& node) {
  if (node.is_dead || !is_type(node, "FlashAttentionScore") || !gives_one_result(node))
    return Unexpected("no attention");
  for (const ValueId input : node.inputs)
    if (input != kNone &&
        (dtype_of(graph, input) != DataType::kFloat || !is_static(shape_of(graph, input))))
      return Unexpected("needs float32 of known shape, has " + to_string(graph.values[input].desc));
  Expansion e{.shape = reference::attention_shape(node.op.attrs, has_input(node, kMask))};
  if (auto done = read_operands(graph, node, e); !done) return Unexpected(done.error());
  e.output = moves_to_output(e.shape);
  return e;
}

double expected_share(const AttentionShape& s) {
  const bool has_large_scores = s.queries * s.keys * std::int64_t{sizeof(float)} > kL1Bytes;
  return has_large_scores && s.depth >= kDeepHead ? kExpectedShare : 0;
}

std::vector<Place> find(const Graph& graph) {
  std::vector<Place> places;
  for (const NodeId id : graph.topological_order())
    if (const auto expansion = expansion_of(graph, graph.nodes[id]))
      places.push_back({.nodes = {id}, .expected_share = expected_share(expansion->shape)});
  return places;
}

/// The first product with scale and mask as its epilogue.
ValueId add_scores(Pieces& pieces, const Expansion& e) {
  const AttentionShape& s = e.shape;
  const Node& whole = pieces.whole();
  Graph& graph = pieces.graph();
  const Shape shape = with_matrix(s, s.queries, s.keys);
  const ValueId query = add_moves(pieces, "query", whole.inputs[kQuery], e.query);
  const ValueId key = add_moves(pieces, "key", whole.inputs[kKey], e.key);
  ValueId scores = pieces.add("scores", call_of("MatMulV2"), {query, key}, shape);
  const NodeId product = graph.values[scores].producer;
  std::vector<NodeId> steps;
  const auto add_step = [&](const std::string& what, const std::string& type, ValueId operand) {
    scores = pieces.add(what, call_of(type), {scores, operand}, shape);
    steps.push_back(graph.values[scores].producer);
  };
  if (s.scale != 1)
    add_step("scaled", "Mul", add_floats(graph, whole.name + "_scale", {}, {s.scale}));
  if (has_input(whole, kMask))
    add_step("masked", s.mask_mode == reference::MaskMode::kMin ? "Minimum" : "Add",
             add_moves(pieces, "mask", whole.inputs[kMask], e.mask));
  if (!steps.empty()) fuse_steps(graph, product, steps);
  return scores;
}

Result<void> apply(Graph& graph, const std::vector<NodeId>& nodes, const RewriteParams&) {
  if (nodes.size() != 1) return Unexpected("names other than one node");
  const auto expansion = expansion_of(graph, graph.nodes[nodes[0]]);
  if (!expansion) return Unexpected(expansion.error());
  const AttentionShape& s = expansion->shape;
  Pieces pieces(graph, nodes[0]);
  const ValueId scores = add_scores(pieces, *expansion);
  reference::Attrs attrs;
  attrs.set("axis", std::int64_t{-1});
  const ValueId weights =
      pieces.add("weights", call_of("SoftmaxV2", attrs), {scores}, shape_of(graph, scores));
  const ValueId value = add_moves(pieces, "value", pieces.whole().inputs[kValue], expansion->value);
  const ValueId product = pieces.add("product", call_of("MatMulV2"), {weights, value},
                                     with_matrix(s, s.queries, s.value_depth));
  pieces.finish(add_moves(pieces, "output", product, expansion->output));
  return {};
}

}  // namespace

void register_expand_attention(RewriteRegistry& registry) {
  registry.add({.kind = "expand_attention", .version = 1, .find = find, .apply = apply});
}

}  // namespace aoe::graph
