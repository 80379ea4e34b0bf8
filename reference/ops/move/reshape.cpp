// The same elements in another shape: Reshape, Flatten, Squeeze, Unsqueeze.
#include <algorithm>
#include <optional>

#include "reference/elements/typed.h"
#include "reference/op.h"
#include "reference/slicing.h"
#include "reference/tensors/axes.h"
#include "reference/tensors/strided.h"

namespace aoe::reference {
namespace {

void compute_copy(const OpContext& ctx) {
  copy_dense(ctx.inputs[0], ctx.outputs[0]);
}

std::vector<TensorDesc> described(const InferContext& ctx, Shape shape) {
  return {{.dtype = ctx.dtype(0), .shape = std::move(shape)}};
}

/// How many entries a 1-D input has; Undetermined when that is not known.
std::size_t entries(const InferContext& ctx, std::size_t input) {
  const std::int64_t count = element_count(ctx.shape(input));
  if (count == kUnknownDim) throw Undetermined{};
  return static_cast<std::size_t>(count);
}

/// Puts in the one dimension that is -1 what the others leave over.
void complete(const Shape& in, Shape& out) {
  const auto missing = std::ranges::find(out, std::int64_t{-1});
  if (missing == out.end()) return;
  *missing = 1;
  if (std::ranges::count(out, std::int64_t{-1}) > 0) fail_model("more than one dimension is -1");
  const std::int64_t known = element_count(out);
  const std::int64_t total = element_count(in);
  if (known == 0 || total % known != 0)
    fail_model("a shape of " + std::to_string(total) +
               " elements has no dimension that completes " + to_string(out));
  *missing = total / known;
}

std::vector<TensorDesc> infer_reshape(const InferContext& ctx) {
  if (!ctx.has_value(1)) return described(ctx, Shape(entries(ctx, 1), kUnknownDim));
  const Shape& in = ctx.shape(0);
  const bool zero_is_zero = ctx.attrs.get_int("allowzero", 0) != 0;
  Shape out = read_ints(ctx.inputs[1]);
  bool copies_unknown = false;
  for (std::size_t d = 0; d < out.size(); ++d) {
    if (out[d] < -1) fail_model("dimension " + std::to_string(out[d]) + " is asked for");
    if (out[d] != 0 || zero_is_zero) continue;
    if (d >= in.size())
      fail_model("dimension " + std::to_string(d) + " of " + to_string(in) + " is to be copied");
    copies_unknown |= in[d] == kUnknownDim;
    out[d] = in[d];
  }
  if (copies_unknown || !is_static(in))
    return described(ctx, out);  // -1 and unknown are written alike
  const Shape asked = out;
  complete(in, out);
  if (element_count(out) != element_count(in))
    fail_model("shape " + to_string(in) + " has not as many elements as " + to_string(asked));
  return described(ctx, out);
}

std::vector<TensorDesc> infer_flatten(const InferContext& ctx) {
  const Shape& in = ctx.shape(0);
  const std::int64_t axis = ctx.attrs.get_int("axis", 1);
  // Unlike elsewhere the axis may also stand behind the last dimension.
  const auto rank = static_cast<std::int64_t>(in.size());
  const std::size_t split = axis == rank ? in.size() : normalize_axis(axis, in.size());
  return described(ctx, {dim_product(in, 0, split), dim_product(in, split, in.size())});
}

/// The attribute before opset 13, the input since; nullopt when the input's values are not known.
std::optional<std::vector<std::int64_t>> axes_of(const InferContext& ctx) {
  if (ctx.version < 13 || !ctx.has_input(1)) return ctx.attrs.get_ints("axes");
  if (!ctx.has_value(1)) return std::nullopt;
  return read_ints(ctx.inputs[1]);
}

std::vector<TensorDesc> infer_squeeze(const InferContext& ctx) {
  const Shape& in = ctx.shape(0);
  const auto axes = axes_of(ctx);
  if (!axes) {
    const std::size_t count = entries(ctx, 1);
    if (count == 0 || count > in.size()) throw Undetermined{};
    return described(ctx, Shape(in.size() - count, kUnknownDim));
  }
  std::vector<bool> drop(in.size(), false);
  for (const std::size_t axis : normalize_axes(*axes, in.size())) {
    if (in[axis] != 1 && in[axis] != kUnknownDim)
      fail_model("axis " + std::to_string(axis) + " of " + to_string(in) + " is not 1");
    drop[axis] = true;
  }
  Shape out;
  for (std::size_t d = 0; d < in.size(); ++d) {
    if (axes->empty() && in[d] == kUnknownDim) throw Undetermined{};
    if (!drop[d] && !(axes->empty() && in[d] == 1)) out.push_back(in[d]);
  }
  return described(ctx, out);
}

std::vector<TensorDesc> infer_unsqueeze(const InferContext& ctx) {
  const Shape& in = ctx.shape(0);
  const auto axes = axes_of(ctx);
  if (!axes) return described(ctx, Shape(in.size() + entries(ctx, 1), kUnknownDim));
  Shape out = in;
  for (const std::size_t axis : normalize_axes(*axes, in.size() + axes->size()))
    out.insert(out.begin() + static_cast<std::ptrdiff_t>(axis), 1);
  return described(ctx, out);
}

}  // namespace

void register_reshape(OpRegistry& registry) {
  registry.add({.type = "Reshape",
                .signature = {"a l:1", "allowzero=0..1"},
                .kind = OpKind::kMove,
                .infer = infer_reshape,
                .compute = compute_copy,
                .first_parameter = 1,
                .min_inputs = 2,
                .slices = same_elements,
                .moved = 1,
                .is_reshape = true});
  registry.add({.type = "FlattenV2",
                .onnx_type = "Flatten",
                .signature = {"a", "axis=int"},
                .kind = OpKind::kMove,
                .infer = infer_flatten,
                .compute = compute_copy,
                .slices = same_elements,
                .moved = 1,
                .is_reshape = true});
  registry.add({.type = "Squeeze",
                .versions = {1, 13},
                .signature = {"a l?@13:0-1", "axes=ints"},
                .kind = OpKind::kMove,
                .infer = infer_squeeze,
                .compute = compute_copy,
                .first_parameter = 1,
                .slices = same_elements,
                .moved = 1,
                .is_reshape = true});
  registry.add({.type = "Unsqueeze",
                .versions = {1, 13},
                .signature = {"a l?@13:0-1", "axes=ints"},
                .kind = OpKind::kMove,
                .infer = infer_unsqueeze,
                .compute = compute_copy,
                .first_parameter = 1,
                .slices = same_elements,
                .moved = 1,
                .is_reshape = true});
}

}  // namespace aoe::reference
