// Unique: each different element (or slice along an axis) once, with where it was first, where all went, how often.
#include <algorithm>
#include <numeric>

#include "reference/elements/typed.h"
#include "reference/op.h"
#include "reference/tensors/axes.h"
#include "reference/tensors/strided.h"
#include "reference/work.h"

namespace aoe::reference {
namespace {

struct Uniques {
  std::vector<std::int64_t> first;  ///< per different slice, in output order: its first position
  std::vector<std::int64_t>
      inverse;  ///< per input slice: which of the different ones it is; empty when each is the first
  std::vector<std::int64_t> counts;  ///< per different slice
};

/// The data around the axis; without one it counts as flat.
AxisView unique_view(const Attrs& attrs, const Shape& shape) {
  if (!attrs.has("axis")) return {1, element_count(shape), 1};
  return view_axis(shape, normalize_axis(attrs.get_int("axis", 0), shape.size()));
}

/// -1, 0 or 1. NaN is above all, and equal to itself.
template <typename T>
int compare(T a, T b) {
  if constexpr (std::is_floating_point_v<T>)
    if (a != a || b != b) return (a != a ? 1 : 0) - (b != b ? 1 : 0);
  return a < b ? -1 : (b < a ? 1 : 0);
}

/// -1, 0 or 1: the order of slices a and b, element by element.
template <typename T>
int compare_slices(const T* data, const AxisView& view, std::int64_t a, std::int64_t b) {
  for (std::int64_t o = 0; o < view.outer; ++o) {
    const T* x = data + (o * view.dim + a) * view.inner;
    const T* y = data + (o * view.dim + b) * view.inner;
    for (std::int64_t i = 0; i < view.inner; ++i) {
      const auto left = static_cast<ComputeType<T>>(x[i]);
      const auto right = static_cast<ComputeType<T>>(y[i]);
      if (const int order = compare(left, right); order != 0) return order;
    }
  }
  return 0;
}

template <typename T>
Uniques find_uniques(const T* data, const AxisView& view, bool sorted) {
  // Slices without elements, of which there may be more than memory has room for, are all the first.
  if (view.outer * view.inner == 0 && view.dim > 0)
    return {.first = {0}, .inverse = {}, .counts = {view.dim}};
  // Sorting positions brings equal slices together, the first of them in front.
  std::vector<std::int64_t> order(static_cast<std::size_t>(view.dim));
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](std::int64_t a, std::int64_t b) {
    return compare_slices(data, view, a, b) < 0;
  });
  std::vector<std::vector<std::int64_t>> groups;
  for (const std::int64_t position : order) {
    if (groups.empty() || compare_slices(data, view, groups.back().front(), position) != 0)
      groups.emplace_back();
    groups.back().push_back(position);
  }
  if (!sorted) std::ranges::sort(groups, {}, [](const auto& group) { return group.front(); });

  Uniques result{.first = {}, .inverse = std::vector<std::int64_t>(order.size()), .counts = {}};
  for (const auto& group : groups) {
    for (const std::int64_t position : group)
      result.inverse[static_cast<std::size_t>(position)] =
          static_cast<std::int64_t>(result.first.size());
    result.first.push_back(group.front());
    result.counts.push_back(static_cast<std::int64_t>(group.size()));
  }
  return result;
}

Uniques uniques_of(const Attrs& attrs, const Tensor& in) {
  Uniques result;
  visit_type<AllTypes>(in.desc.dtype, [&]<typename T>() {
    result = find_uniques(in.as<T>(), unique_view(attrs, in.desc.shape),
                          attrs.get_int("sorted", 1) != 0);
  });
  return result;
}

std::vector<TensorDesc> infer_unique(const InferContext& ctx) {
  const Shape& in = ctx.shape(0);
  std::int64_t count = kUnknownDim;
  if (ctx.has_value(0))
    count = static_cast<std::int64_t>(uniques_of(ctx.attrs, ctx.inputs[0]).first.size());
  Shape values{count};
  if (ctx.attrs.has("axis")) {
    values = in;
    values[normalize_axis(ctx.attrs.get_int("axis", 0), in.size())] = count;
  }
  const TensorDesc per_value{.dtype = DataType::kInt64, .shape = {count}};
  const TensorDesc inverse{.dtype = DataType::kInt64, .shape = {unique_view(ctx.attrs, in).dim}};
  return {{.dtype = ctx.dtype(0), .shape = std::move(values)}, per_value, inverse, per_value};
}

void compute_unique(const OpContext& ctx) {
  const Tensor& in = ctx.inputs[0];
  const Uniques uniques = uniques_of(ctx.attrs, in);
  const auto count = static_cast<std::int64_t>(uniques.first.size());
  if (ctx.has_output(0)) {
    const AxisView view = unique_view(ctx.attrs, in.desc.shape);
    for (std::int64_t u = 0; u < count; ++u) {
      copy_strided(in.desc.dtype, {view.outer, view.inner},
                   {in.data,
                    uniques.first[static_cast<std::size_t>(u)] * view.inner,
                    {view.dim * view.inner, 1}},
                   {ctx.outputs[0].data, u * view.inner, {count * view.inner, 1}});
    }
  }
  if (ctx.has_output(2))
    std::fill_n(ctx.outputs[2].as<std::int64_t>(), ctx.outputs[2].elements(), std::int64_t{0});
  const std::vector<std::int64_t>* const lists[] = {&uniques.first, &uniques.inverse,
                                                    &uniques.counts};
  for (std::size_t i = 0; i < 3; ++i) {
    if (ctx.has_output(i + 1)) std::ranges::copy(*lists[i], ctx.outputs[i + 1].as<std::int64_t>());
  }
}

}  // namespace

void register_unique(OpRegistry& registry) {
  registry.add({.type = "Unique",
                .signature = {"a", "axis=int sorted=0..1"},
                .kind = OpKind::kSearch,
                .infer = infer_unique,
                .compute = compute_unique,
                .work = sorting_steps,
                .infers_from_values = true});
}

}  // namespace aoe::reference
