// forward_slices: a Slice that cuts one part out of a Concat again reads that part instead.
#include <algorithm>
#include <optional>

#include "graph/passes.h"
#include "graph/rewrite.h"

namespace aoe::graph {
namespace {

struct Cut {
  std::int64_t axis = 0, begin = 0, end = 0;
};

/// The slice when it cuts along one axis with step 1; in terms of the input's indices.
std::optional<Cut> cut_of(const Graph& graph, const Node& slice) {
  std::vector<std::int64_t> starts, ends, axes, steps;
  if (!is_type(slice, "Slice") || !ints_of(graph, slice, "starts", 1, starts) ||
      !ints_of(graph, slice, "ends", 2, ends))
    return std::nullopt;
  const bool has_axes = slice.op.attrs.has("axes") || has_input(slice, 3);
  if (!has_axes) axes = {0};
  if (has_axes && !ints_of(graph, slice, "axes", 3, axes)) return std::nullopt;
  if (has_input(slice, 4) && (!ints_of(graph, slice, "steps", 4, steps) || steps != Shape{1}))
    return std::nullopt;
  const Shape& shape = shape_of(graph, slice.inputs[0]);
  if (starts.size() != 1 || ends.size() != 1 || axes.size() != 1 || !is_static(shape))
    return std::nullopt;
  const std::int64_t axis =
      axes[0] < 0 ? axes[0] + static_cast<std::int64_t>(shape.size()) : axes[0];
  const auto index = [&](std::int64_t i) {
    return std::clamp<std::int64_t>(i < 0 ? i + shape[axis] : i, 0, shape[axis]);
  };
  return Cut{axis, index(starts[0]), index(ends[0])};
}

/// The operand of the Concat that is exactly the cut; kNone when there is none.
ValueId part_of(const Graph& graph, const Node& concat, const Cut& cut) {
  const auto rank = static_cast<std::int64_t>(shape_of(graph, concat.outputs[0]).size());
  const std::int64_t axis = concat.op.attrs.get_int("axis", 0);
  if ((axis < 0 ? axis + rank : axis) != cut.axis) return kNone;
  std::int64_t begin = 0;
  for (const ValueId input : concat.inputs) {
    const std::int64_t size = shape_of(graph, input)[cut.axis];
    if (begin == cut.begin && begin + size == cut.end && size > 0) return input;
    begin += size;
  }
  return kNone;
}

bool forward(Graph& graph, NodeId id) {
  const auto cut = cut_of(graph, graph.nodes[id]);
  if (!cut) return false;
  const ValueId whole = graph.nodes[id].inputs[0];
  const NodeId concat = producer_of_type(graph, whole, "ConcatV2");
  if (concat == kNone) return false;
  const ValueId part = part_of(graph, graph.nodes[concat], *cut);
  if (part == kNone || !bypass(graph, id, part)) return false;
  if (graph.consumers(whole).empty() && !graph.is_output(whole)) graph.remove_node(concat);
  return true;
}

}  // namespace

bool forward_slices(Graph& graph) {
  bool changed = false;
  for (const NodeId id : graph.topological_order()) changed |= forward(graph, id);
  return changed;
}

}  // namespace aoe::graph
