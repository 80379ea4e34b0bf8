// Slice: every step-th element between start and end along some axes; attributes before opset 10, inputs since.
#include <algorithm>
#include <numeric>

#include "reference/elements/typed.h"
#include "reference/slicing.h"
#include "reference/tensors/axes.h"
#include "reference/tensors/slice_ranges.h"
#include "reference/tensors/strided.h"

namespace aoe::reference {
namespace {

/// Bounds count from the end when negative, and are cut to what the dimension has.
SliceRange resolve(std::int64_t dim, std::int64_t start, std::int64_t end, std::int64_t step) {
  if (step == 0) fail_model("a step is 0");
  if (start < 0) start += dim;
  if (end < 0) end += dim;
  if (step > 0) {
    start = std::clamp<std::int64_t>(start, 0, dim);
    end = std::clamp<std::int64_t>(end, 0, dim);
    const std::int64_t span = std::max<std::int64_t>(end - start, 0);
    return {start, step, span / step + (span % step != 0)};
  }
  if (dim == 0) return {0, step, 0};
  start = std::clamp<std::int64_t>(start, 0, dim - 1);
  end = std::clamp<std::int64_t>(end, -1, dim - 1);
  const std::int64_t span = std::min<std::int64_t>(end - start, 0);
  return {start, step, span / step + (span % step != 0)};
}

struct Bounds {
  std::vector<std::int64_t> starts;
  std::vector<std::int64_t> ends;
  std::vector<std::int64_t> axes;
  std::vector<std::int64_t> steps;
};

/// All known, or nothing.
std::optional<Bounds> bounds_of(const Attrs& attrs, int version, std::span<const Tensor> inputs) {
  Bounds bounds;
  if (version < 10) {
    bounds.starts = attrs.get_ints("starts");
    bounds.ends = attrs.get_ints("ends");
    bounds.axes = attrs.get_ints("axes");
  } else {
    std::vector<std::int64_t>* const lists[] = {&bounds.starts, &bounds.ends, &bounds.axes,
                                                &bounds.steps};
    for (std::size_t i = 1; i < std::min<std::size_t>(inputs.size(), 5); ++i) {
      if (!inputs[i].is_present()) continue;
      if (inputs[i].data == nullptr) return std::nullopt;
      *lists[i - 1] = read_ints(inputs[i]);
    }
  }
  const std::size_t count = bounds.starts.size();
  if (bounds.axes.empty()) {
    bounds.axes.resize(count);
    std::iota(bounds.axes.begin(), bounds.axes.end(), 0);
  }
  if (bounds.steps.empty()) bounds.steps.assign(count, 1);
  if (bounds.ends.size() != count || bounds.axes.size() != count || bounds.steps.size() != count)
    fail_model("starts, ends, axes and steps differ in length");
  return bounds;
}

/// The values of starts or ends are not known: only the axes that are certainly not sliced keep their size.
Shape unknown_slice(const InferContext& ctx) {
  Shape out = ctx.shape(0);
  if (ctx.has_value(3)) {
    for (const std::int64_t axis : read_ints(ctx.inputs[3]))
      out[normalize_axis(axis, out.size())] = kUnknownDim;
    return out;
  }
  const std::int64_t sliced = ctx.has_input(3) ? kUnknownDim : element_count(ctx.shape(1));
  for (std::size_t d = 0; d < out.size(); ++d) {
    if (sliced == kUnknownDim || static_cast<std::int64_t>(d) < sliced) out[d] = kUnknownDim;
  }
  return out;
}

std::vector<TensorDesc> infer_slice(const InferContext& ctx) {
  const auto ranges = slice_ranges(ctx.attrs, ctx.version, ctx.inputs);
  if (!ranges) return {{.dtype = ctx.dtype(0), .shape = unknown_slice(ctx)}};
  TensorDesc out{.dtype = ctx.dtype(0)};
  for (const SliceRange& range : *ranges) out.shape.push_back(range.count);
  return {out};
}

void compute_slice(const OpContext& ctx) {
  const Tensor& in = ctx.inputs[0];
  const Tensor& out = ctx.outputs[0];
  StridedView from{in.data, 0, dense_strides(in.desc.shape)};
  const auto ranges = *slice_ranges(ctx.attrs, ctx.version, ctx.inputs);
  for (std::size_t d = 0; d < ranges.size(); ++d) {
    from.offset += ranges[d].start * from.strides[d];
    // A step may be anything where there is nothing to step to.
    if (ranges[d].count > 1) from.strides[d] *= ranges[d].step;
  }
  copy_strided(in.desc.dtype, out.desc.shape, from, {out.data, 0, dense_strides(out.desc.shape)});
}

std::vector<bool> sliced_axes(const Slicing& slicing) {
  const auto bounds = bounds_of(slicing.attrs, slicing.version, slicing.inputs);
  if (!bounds) return {};
  std::vector<bool> flags(slicing.shape(0).size(), false);
  for (const std::int64_t axis : bounds->axes) flags[normalize_axis(axis, flags.size())] = true;
  return flags;
}

}  // namespace

std::optional<std::vector<SliceRange>> slice_ranges(const Attrs& attrs, int version,
                                                    std::span<const Tensor> inputs) {
  const auto bounds = bounds_of(attrs, version, inputs);
  if (!bounds) return std::nullopt;
  const Shape& shape = inputs[0].desc.shape;
  std::vector<SliceRange> ranges;
  for (const std::int64_t dim : shape) ranges.push_back({0, 1, dim});
  for (std::size_t i = 0; i < bounds->axes.size(); ++i) {
    const std::size_t axis = normalize_axis(bounds->axes[i], shape.size());
    if (shape[axis] != kUnknownDim)
      ranges[axis] = resolve(shape[axis], bounds->starts[i], bounds->ends[i], bounds->steps[i]);
  }
  return ranges;
}

void register_slice(OpRegistry& registry) {
  registry.add(
      {.type = "Slice",
       .versions = {1, 10},
       .signature = {"a x?@10:1 x?@10:1 x?@10:1 x?@10:1", "starts=longs ends=longs axes=ints"},
       .kind = OpKind::kMove,
       .infer = infer_slice,
       .compute = compute_slice,
       .first_parameter = 1,
       .slices = apart_but_for(sliced_axes),
       .moved = 1});
}

}  // namespace aoe::reference
