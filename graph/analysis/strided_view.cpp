// See strided_view.h.
#include "graph/analysis/strided_view.h"

#include <algorithm>
#include <numeric>

#include "graph/rewrite.h"
#include "reference/tensors/strided.h"

namespace aoe::graph {
namespace {

std::int64_t positive(std::int64_t axis, std::size_t rank) {
  return axis < 0 ? axis + static_cast<std::int64_t>(rank) : axis;
}

/// The view of `node`'s output from the view of its input, or nothing. One function for each type.
using Step = std::optional<StridedView> (*)(const Graph&, const Node&, ValueId, StridedView);

std::optional<StridedView> transpose(const Graph&, const Node& node, ValueId, StridedView view) {
  std::vector<std::int64_t> perm(view.axes.size());
  std::iota(perm.rbegin(), perm.rend(), 0);
  perm = node.op.attrs.get_ints("perm", perm);
  std::vector<ViewAxis> axes;
  for (const std::int64_t d : perm) axes.push_back(view.axes[static_cast<std::size_t>(d)]);
  view.axes = std::move(axes);
  return view;
}

std::optional<StridedView> reshape(const Graph& graph, const Node&, ValueId output,
                                   StridedView view) {
  auto axes = regroup(flatten(view.axes), shape_of(graph, output));
  if (!axes) return std::nullopt;
  view.axes = std::move(*axes);
  return view;
}

/// Moves the view to `begin` along an axis of one step and leaves `extent` of it, `step` apart.
bool cut(StridedView& view, std::int64_t axis, std::int64_t begin, std::int64_t step,
         std::int64_t extent) {
  ViewAxis& steps = view.axes[static_cast<std::size_t>(axis)];
  steps = merged(steps);
  if (steps.size() > 1) return false;
  if (steps.empty()) return begin == 0 && extent == 1;
  view.offset += begin * steps[0].stride;
  steps[0] = {extent, steps[0].stride * step};
  if (extent == 1) steps.clear();
  return true;
}

std::optional<StridedView> slice(const Graph& graph, const Node& node, ValueId output,
                                 StridedView view) {
  const Shape &from = shape_of(graph, node.inputs[0]), &to = shape_of(graph, output);
  std::vector<std::int64_t> starts, axes, steps;
  if (!ints_of(graph, node, "starts", 1, starts)) return std::nullopt;
  axes.resize(starts.size());
  std::iota(axes.begin(), axes.end(), 0);
  const bool has_axes = node.op.attrs.has("axes") || has_input(node, 3);
  if (has_axes && !ints_of(graph, node, "axes", 3, axes)) return std::nullopt;
  steps.assign(starts.size(), 1);
  if (has_input(node, 4) && !ints_of(graph, node, "steps", 4, steps)) return std::nullopt;
  for (std::size_t i = 0; i < starts.size(); ++i) {
    const std::int64_t axis = positive(axes[i], from.size());
    const std::int64_t dim = from[static_cast<std::size_t>(axis)];
    const std::int64_t begin =
        std::clamp<std::int64_t>(starts[i] < 0 ? starts[i] + dim : starts[i], 0, dim);
    if (steps[i] < 1 || !cut(view, axis, begin, steps[i], to[static_cast<std::size_t>(axis)]))
      return std::nullopt;
  }
  return view;
}

std::optional<StridedView> split(const Graph& graph, const Node& node, ValueId output,
                                 StridedView view) {
  const std::int64_t axis = positive(node.op.attrs.get_int("axis", 0), view.axes.size());
  const auto at = static_cast<std::size_t>(axis);
  std::int64_t begin = 0;
  for (const ValueId part : node.outputs) {
    if (part == kNone) return std::nullopt;  // how large it is is not said
    const std::int64_t size = shape_of(graph, part)[at];
    if (part == output) return cut(view, axis, begin, 1, size) ? std::optional(view) : std::nullopt;
    begin += size;
  }
  return std::nullopt;
}

std::optional<StridedView> gather(const Graph& graph, const Node& node, ValueId, StridedView view) {
  const ConstantPtr index = constant_input(graph, node, 1);
  if (!index || element_count(index->desc().shape) != 1 || index->desc().shape.size() > 1)
    return std::nullopt;
  const Shape& from = shape_of(graph, node.inputs[0]);
  const std::int64_t axis = positive(node.op.attrs.get_int("axis", 0), from.size());
  const std::int64_t dim = from[static_cast<std::size_t>(axis)];
  const std::int64_t begin = positive(to_ints(*index)[0], static_cast<std::size_t>(dim));
  if (begin < 0 || begin >= dim) return std::nullopt;  // a run that comes there says so
  if (!cut(view, axis, begin, 1, 1)) return std::nullopt;
  if (index->desc().shape.empty()) view.axes.erase(view.axes.begin() + axis);
  return view;
}

std::optional<StridedView> expand(const Graph& graph, const Node& node, ValueId output,
                                  StridedView view) {
  const Shape& to = shape_of(graph, output);
  const Shape& from = shape_of(graph, node.inputs[0]);
  view.axes.insert(view.axes.begin(), to.size() - from.size(), ViewAxis{});
  for (std::size_t d = 0; d < to.size(); ++d)
    if (view.axes[d].empty() && to[d] != 1) view.axes[d] = {{to[d], 0}};
  return view;
}

Step step_of(const Node& node) {
  if (is_type(node, "Transpose")) return transpose;
  if (reference::is_reshape(node.op.type)) return reshape;
  if (is_type(node, "Slice")) return slice;
  if (is_type(node, "SplitV")) return split;
  if (is_type(node, "GatherV2")) return gather;
  if (is_type(node, "Expand")) return expand;
  return nullptr;
}

/// If the node multiplies or divides by a scalar constant: by how much its other operand is scaled.
std::optional<double> scalar_factor(const Graph& graph, const Node& node, std::size_t& operand) {
  const bool is_product = is_type(node, "Mul"), is_quotient = is_type(node, "Div");
  if (!is_product && !is_quotient) return std::nullopt;
  for (std::size_t i = is_product ? 0 : 1; i < 2; ++i) {
    const ConstantPtr constant = constant_input(graph, node, i);
    operand = 1 - i;
    if (!constant || constant->desc().dtype != DataType::kFloat ||
        element_count(constant->desc().shape) != 1 ||
        shape_of(graph, node.inputs[operand]) != shape_of(graph, node.outputs[0]))
      continue;
    const double scalar = to_doubles(*constant)[0];
    return is_product ? scalar : 1 / scalar;
  }
  return std::nullopt;
}

}  // namespace

ViewAxis flatten(const std::vector<ViewAxis>& axes) {
  ViewAxis steps;
  for (const ViewAxis& axis : axes) steps.insert(steps.end(), axis.begin(), axis.end());
  return steps;
}

ViewAxis merged(const ViewAxis& axis) {
  ViewAxis joined;
  for (const Factor& step : axis) {
    if (!joined.empty() && joined.back().stride == step.stride * step.extent)
      joined.back() = {joined.back().extent * step.extent, step.stride};
    else
      joined.push_back(step);
  }
  return joined;
}

std::optional<std::vector<ViewAxis>> regroup(const ViewAxis& steps, const Shape& shape) {
  ViewAxis left = steps;  // consumed from the back
  std::vector<ViewAxis> axes(shape.size());
  for (std::size_t d = shape.size(); d-- > 0;) {
    std::int64_t missing = shape[d];
    while (missing > 1) {
      if (left.empty()) return std::nullopt;
      Factor& inner = left.back();
      const std::int64_t taken = std::min(inner.extent, missing);
      if (inner.extent % taken != 0 || missing % taken != 0) return std::nullopt;
      axes[d].insert(axes[d].begin(), {taken, inner.stride});
      missing /= taken;
      inner = {inner.extent / taken, inner.stride * taken};
      if (inner.extent == 1) left.pop_back();
    }
    axes[d] = merged(axes[d]);
  }
  if (!left.empty()) return std::nullopt;
  return axes;
}

StridedView dense_view(const Graph& graph, ValueId value) {
  const Shape& shape = shape_of(graph, value);
  const Shape strides = reference::dense_strides(shape);
  StridedView view{.root = value};
  for (std::size_t d = 0; d < shape.size(); ++d)
    view.axes.push_back(shape[d] == 1 ? ViewAxis{} : ViewAxis{{shape[d], strides[d]}});
  return view;
}

StridedView view_through(const Graph& graph, ValueId value, bool through_scale, ValueId stop) {
  const NodeId producer = value == stop ? kNone : graph.values[value].producer;
  if (producer == kNone) return dense_view(graph, value);
  const Node& node = graph.nodes[producer];
  std::size_t operand = 0;
  if (const auto factor = scalar_factor(graph, node, operand); factor && through_scale) {
    StridedView view = view_through(graph, node.inputs[operand], true, stop);
    view.scale *= *factor;
    return view;
  }
  const Step step = step_of(node);
  if (step == nullptr || !is_static(shape_of(graph, node.inputs[0])))
    return dense_view(graph, value);
  const auto view =
      step(graph, node, value, view_through(graph, node.inputs[0], through_scale, stop));
  return view ? *view : dense_view(graph, value);
}

}  // namespace aoe::graph
