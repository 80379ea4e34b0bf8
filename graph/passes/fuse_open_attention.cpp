// fuse_open_attention: attention (attention_pattern.h) whose queries or keys only a run can count becomes one FusedInferAttentionScore, for
// which there is a native kernel. q, k and v are read where their Transposes and scalings read them, and y is written where the Transpose
// behind it writes. Where slices of it have sizes that are known, as images of a batch, map_slices makes them a FlashAttentionScore.
#include <algorithm>
#include <numeric>
#include <optional>

#include "graph/analysis/attention_pattern.h"
#include "graph/analysis/slice_lengths.h"
#include "graph/passes.h"
#include "graph/rewrite.h"

namespace aoe::graph {
namespace {

using Axes = std::vector<std::int64_t>;
constexpr std::int64_t kNoAxis = -1;

/// A factor as a tensor holds it: which of its axes each axis of the factor is.
struct Factor {
  ValueId tensor = kNone;
  Axes axes;
  double scale = 1;
  std::int64_t repeats = 1;  ///< of each head, the axis in front of rows and columns
};

Axes in_order(std::size_t rank) {
  Axes axes(rank);
  std::iota(axes.begin(), axes.end(), 0);
  return axes;
}

Axes order_of(const Node& transpose, std::size_t rank) {
  if (transpose.op.attrs.has("perm")) return transpose.op.attrs.get_ints("perm");
  Axes reversed = in_order(rank);
  std::ranges::reverse(reversed);
  return reversed;
}

/// `now` by axis of what the node makes becomes the same of what it reads.
void look_through(Axes& axes, const Axes& now) {
  for (std::int64_t& axis : axes)
    if (axis != kNoAxis) axis = now[static_cast<std::size_t>(axis)];
}

bool look_through_unsqueeze(const Graph& graph, const Node& node, Axes& axes) {
  std::vector<std::int64_t> added;
  if (!ints_of(graph, node, "axes", 1, added)) return false;
  const auto rank = std::ssize(shape_of(graph, node.outputs[0]));
  Axes now(static_cast<std::size_t>(rank), 0);
  for (const std::int64_t axis : added)
    now[static_cast<std::size_t>(axis < 0 ? axis + rank : axis)] = kNoAxis;
  std::int64_t next = 0;
  for (std::int64_t& axis : now)
    if (axis != kNoAxis) axis = next++;
  look_through(axes, now);
  return true;
}

/// The number that the node multiplies its first or second input with, which becomes `value`.
std::optional<double> scale_of(const Graph& graph, const Node& node, ValueId& value) {
  const bool is_product = is_type(node, "Mul");
  if (!is_product && !is_type(node, "Div")) return {};
  for (std::size_t i = is_product ? 0 : 1; i < 2; ++i) {
    const ConstantPtr constant = constant_input(graph, node, i);
    const ValueId other = node.inputs[1 - i];
    if (!constant || element_count(constant->desc().shape) != 1 ||
        shape_of(graph, other).size() != shape_of(graph, node.outputs[0]).size())
      continue;
    value = other;
    return is_product ? to_doubles(*constant)[0] : 1 / to_doubles(*constant)[0];
  }
  return {};
}

/// A copy of each head for those that share it, (images, heads, keys, size), as exporters write it.
struct Repetition {
  ValueId heads = kNone;
  std::int64_t times = 1;
};

/// Nothing but axis 2 is longer behind the Expand. Where only a run knows sizes it is not asked whether it makes one key many: attention over
/// them would be refused, or give the same.
bool repeats_heads(const Graph& graph, const Node& expand) {
  const Shape &from = shape_of(graph, expand.inputs[0]), &to = shape_of(graph, expand.outputs[0]);
  const ConstantPtr sizes = constant_input(graph, expand, 1);
  const std::vector<std::int64_t> known = sizes ? to_ints(*sizes) : std::vector<std::int64_t>{};
  if (from.size() != 5 || to.size() != 5 || from[2] != 1 || to[2] < 1) return false;
  for (const std::size_t axis : {0, 1, 3, 4}) {
    const bool stays = known.size() == 5 && known[axis] == 1;
    if (!stays && (from[axis] != to[axis] || (axis != 3 && from[axis] == kUnknownDim)))
      return false;
  }
  return true;
}

/// The first two axes become one again, and no others.
bool joins_heads(const Graph& graph, const Node& reshape) {
  const Shape &from = shape_of(graph, reshape.inputs[0]), &to = shape_of(graph, reshape.outputs[0]);
  if (from.size() != 5 || to.size() != 4 || from[1] < 1 || from[4] < 1) return false;
  const ConstantPtr sizes = constant_input(graph, reshape, 1);
  const bool keeps_images =
      from[0] >= 0 ||
      (sizes && reshape.op.attrs.get_int("allowzero", 0) == 0 && to_ints(*sizes)[0] == 0);
  return keeps_images && to == Shape{from[0], from[1] * from[2], from[3], from[4]};
}

std::optional<Repetition> repetition_of(const Graph& graph, ValueId value) {
  const NodeId reshape = producer_of_type(graph, value, "Reshape");
  if (reshape == kNone || !joins_heads(graph, graph.nodes[reshape])) return {};
  const NodeId expand = producer_of_type(graph, graph.nodes[reshape].inputs[0], "Expand");
  if (expand == kNone || !repeats_heads(graph, graph.nodes[expand])) return {};
  const NodeId unsqueeze = producer_of_type(graph, graph.nodes[expand].inputs[0], "Unsqueeze");
  if (unsqueeze == kNone) return {};
  Axes axes = in_order(5);
  if (!look_through_unsqueeze(graph, graph.nodes[unsqueeze], axes) || axes != Axes{0, 1, -1, 2, 3})
    return {};
  return Repetition{graph.nodes[unsqueeze].inputs[0],
                    shape_of(graph, graph.nodes[expand].outputs[0])[2]};
}

Factor factor_of(const Graph& graph, ValueId value, bool may_scale, bool may_repeat) {
  Factor factor{.tensor = value, .axes = in_order(shape_of(graph, value).size())};
  for (;;) {
    const NodeId id = graph.values[factor.tensor].producer;
    if (id == kNone) return factor;
    const Node& node = graph.nodes[id];
    if (is_type(node, "Transpose")) {
      look_through(factor.axes, order_of(node, shape_of(graph, node.inputs[0]).size()));
      factor.tensor = node.inputs[0];
    } else if (is_type(node, "Unsqueeze") && look_through_unsqueeze(graph, node, factor.axes)) {
      factor.tensor = node.inputs[0];
    } else {
      const auto scale = may_scale ? scale_of(graph, node, factor.tensor) : std::nullopt;
      const auto repetition =
          may_repeat && factor.repeats == 1 && factor.axes.size() == 4 && factor.axes[1] == 1
              ? repetition_of(graph, factor.tensor)
              : std::nullopt;
      if (!scale && !repetition) return factor;
      if (scale) factor.scale *= *scale;
      if (repetition) {
        factor.tensor = repetition->heads;
        factor.repeats = repetition->times;
      }
    }
  }
}

class Fusion {
 public:
  explicit Fusion(Graph& graph) : graph_(graph), replacer_(graph) {
    for (const NodeId id : graph.topological_order())
      if (auto pattern = attention_at(graph, id, AttentionSizes::kOpen);
          pattern && is_open(*pattern))
        patterns_.push_back(std::move(*pattern));
  }

  bool run() {
    if (patterns_.empty()) return false;
    find_slices();
    std::erase_if(patterns_, [&](const AttentionPattern& each) { return are_known_slices(each); });
    for (const AttentionPattern& each : patterns_) fuse(each);
    return !patterns_.empty();
  }

 private:
  const Shape& scores_of(const AttentionPattern& pattern) const {
    return shape_of(graph_, graph_.nodes[pattern.second()].inputs[0]);
  }

  bool is_open(const AttentionPattern& pattern) const {
    return !is_static(scores_of(pattern)) ||
           !is_static(shape_of(graph_, graph_.nodes[pattern.second()].outputs[0]));
  }

  void find_slices() {
    SliceLengths lengths(graph_);
    slices_.resize(graph_.nodes.size());
    for (const NodeId id : graph_.topological_order()) slices_[id] = lengths.add(graph_.nodes[id]);
  }

  /// Parts of queries would read all keys anew.
  bool are_known_slices(const AttentionPattern& pattern) const {
    const Shape& scores = scores_of(pattern);
    const auto& length = slices_[pattern.first()];
    return is_static({scores.end() - 2, scores.end()}) && length &&
           std::ranges::all_of(pattern.nodes, [&](NodeId id) { return slices_[id] == length; });
  }

  void fuse(const AttentionPattern& pattern) {
    const Node first = graph_.nodes[pattern.first()], second = graph_.nodes[pattern.second()];
    const Factor query = factor_of(graph_, first.inputs[0], true, false);
    Factor key = factor_of(graph_, first.inputs[1], true, true),
           value = factor_of(graph_, second.inputs[1], false, true);
    if (key.repeats != value.repeats) {
      key = factor_of(graph_, first.inputs[1], true, false);
      value = factor_of(graph_, second.inputs[1], false, false);
    }
    Node node{.op = call_of("FusedInferAttentionScore"),
              .inputs = {query.tensor, key.tensor, value.tensor},
              .outputs = second.outputs};
    reference::Attrs& attrs = node.op.attrs;
    attrs.set("query_axes", query.axes);
    attrs.set("key_axes", key.axes);
    attrs.set("value_axes", value.axes);
    attrs.set("scale_value", static_cast<float>(pattern.scale * query.scale * key.scale));
    if (key.repeats > 1) attrs.set("repeats", key.repeats);
    const bool has_where = pattern.condition != kNone;
    const ValueId mask = has_where ? pattern.condition : pattern.mask;
    if (mask != kNone) {
      node.inputs.push_back(has_where ? replacer_.mask_of(mask, pattern) : mask);
      const bool is_bound = pattern.mode == reference::MaskMode::kMin;
      attrs.set("mask_mode", std::string(is_bound ? "min" : "add"));
    }
    std::vector<NodeId> absorbed;
    const NodeId next = sole_consumer(graph_, second.outputs[0]);
    if (next != kNone && is_type(graph_.nodes[next], "Transpose")) {
      attrs.set("output_axes",
                order_of(graph_.nodes[next], shape_of(graph_, second.outputs[0]).size()));
      node.outputs = graph_.nodes[next].outputs;
      absorbed.push_back(next);
    }
    replacer_.replace(pattern, absorbed, {first.inputs[0], first.inputs[1], second.inputs[1], mask},
                      std::move(node));
  }

  Graph& graph_;
  AttentionReplacer replacer_;
  std::vector<AttentionPattern> patterns_;
  std::vector<std::optional<SliceLength>> slices_;  ///< by node
};

}  // namespace

bool fuse_open_attention(Graph& graph) {
  return Fusion(graph).run();
}

}  // namespace aoe::graph
