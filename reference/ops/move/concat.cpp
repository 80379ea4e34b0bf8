// Concat and Split: tensors joined along an axis, and taken apart again.
#include <algorithm>
#include <optional>

#include "base/ceil_div.h"
#include "base/size.h"
#include "reference/elementwise.h"
#include "reference/op.h"
#include "reference/slicing.h"
#include "reference/tensors/axes.h"
#include "reference/tensors/split_sizes.h"
#include "reference/tensors/strided.h"

namespace aoe::reference {
namespace {

/// The joined dimension of two: unknown wherever one of them tells nothing.
std::int64_t common_dim(std::int64_t a, std::int64_t b) {
  if (a != b && a != kUnknownDim && b != kUnknownDim)
    fail_model("dimensions " + std::to_string(a) + " and " + std::to_string(b) +
               " differ beside the axis");
  return a == kUnknownDim ? b : a;
}

std::vector<TensorDesc> infer_concat(const InferContext& ctx) {
  if (!ctx.attrs.has("axis")) fail_model("attribute 'axis' is missing");
  Shape out = ctx.shape(0);
  const std::size_t axis = normalize_axis(ctx.attrs.get_int("axis", 0), out.size());
  for (std::size_t i = 1; i < ctx.inputs.size(); ++i) {
    const Shape& shape = ctx.shape(i);
    if (shape.size() != out.size())
      fail_model("shapes " + to_string(ctx.shape(0)) + " and " + to_string(shape) +
                 " have different ranks");
    for (std::size_t d = 0; d < out.size(); ++d) {
      if (d != axis)
        out[d] = common_dim(out[d], shape[d]);
      else
        out[d] = out[d] == kUnknownDim || shape[d] == kUnknownDim ? kUnknownDim
                                                                  : checked_sum(out[d], shape[d]);
    }
  }
  return {{.dtype = common_dtype(ctx), .shape = std::move(out)}};
}

/// Copies between `part` and the slab of `whole` that starts at `start` along `axis`.
void copy_part(const Tensor& part, const Tensor& whole, std::size_t axis, std::int64_t start,
               bool to_whole) {
  const Strides whole_strides = dense_strides(whole.desc.shape);
  const StridedView slab{whole.data, start * whole_strides[axis], whole_strides};
  const StridedView own{part.data, 0, dense_strides(part.desc.shape)};
  copy_strided(part.desc.dtype, part.desc.shape, to_whole ? own : slab, to_whole ? slab : own);
}

void compute_concat(const OpContext& ctx) {
  const std::size_t axis =
      normalize_axis(ctx.attrs.get_int("axis", 0), ctx.outputs[0].desc.shape.size());
  std::int64_t start = 0;
  for (const Tensor& input : ctx.inputs) {
    copy_part(input, ctx.outputs[0], axis, start, true);
    start += input.desc.shape[axis];
  }
}

std::vector<TensorDesc> infer_split(const InferContext& ctx) {
  const Shape& in = ctx.shape(0);
  const std::size_t axis = normalize_axis(ctx.attrs.get_int("axis", 0), in.size());
  const auto sizes = split_sizes(ctx.attrs, ctx.version, ctx.inputs, in[axis], ctx.output_count);
  std::vector<TensorDesc> outputs(ctx.output_count, {.dtype = ctx.dtype(0), .shape = in});
  if (!sizes) {
    for (TensorDesc& output : outputs) output.shape[axis] = kUnknownDim;
    return outputs;
  }
  if (sizes->size() != outputs.size())
    fail_model(std::to_string(sizes->size()) + " sizes for " + std::to_string(outputs.size()) +
               " outputs");
  std::int64_t total = 0;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    outputs[i].shape[axis] = (*sizes)[i];
    total = checked_sum(total, (*sizes)[i]);
  }
  if (is_static(*sizes) && in[axis] != kUnknownDim && total != in[axis])
    fail_model("sizes add up to " + std::to_string(total) + ", but the dimension is " +
               std::to_string(in[axis]));
  return outputs;
}

void compute_split(const OpContext& ctx) {
  const Shape& in = ctx.inputs[0].desc.shape;
  const std::size_t axis = normalize_axis(ctx.attrs.get_int("axis", 0), in.size());
  const auto sizes = split_sizes(ctx.attrs, ctx.version, ctx.inputs, in[axis], ctx.outputs.size());
  std::int64_t start = 0;
  for (std::size_t i = 0; i < ctx.outputs.size(); ++i) {
    if (ctx.has_output(i)) copy_part(ctx.outputs[i], ctx.inputs[0], axis, start, false);
    start += (*sizes)[i];
  }
}

/// All along one axis that is not theirs.
bool joined_apart(const Slicing& slicing) {
  const std::size_t axis =
      normalize_axis(slicing.attrs.get_int("axis", 0), slicing.shape(0).size());
  return std::ranges::all_of(slicing.axes, [&](int each) {
    return each != kWhole && each == slicing.axes[0] && static_cast<std::size_t>(each) != axis;
  });
}

}  // namespace

std::optional<std::vector<std::int64_t>> split_sizes(const Attrs& attrs, int version,
                                                     std::span<const Tensor> inputs,
                                                     std::int64_t dim, std::size_t outputs) {
  if (version < 13 && attrs.has("split")) return attrs.get_ints("split");
  if (version >= 13 && inputs.size() > 1 && inputs[1].is_present()) {
    if (inputs[1].data == nullptr) return std::nullopt;
    auto sizes = read_ints(inputs[1]);
    check_not_negative(sizes, "sizes");
    return sizes;
  }
  if (dim == kUnknownDim) return std::vector<std::int64_t>(outputs, kUnknownDim);
  const auto parts = std::max<std::int64_t>(1, static_cast<std::int64_t>(outputs));
  const std::int64_t each = ceil_div(dim, parts);
  std::vector<std::int64_t> sizes(outputs, each);
  sizes.back() = dim - each * (parts - 1);
  const bool may_be_uneven = attrs.has("num_outputs");
  if (sizes.back() < 0 || (sizes.back() != each && !may_be_uneven))
    fail_model("dimension " + std::to_string(dim) + " does not split into " +
               std::to_string(outputs) + " parts");
  return sizes;
}

void register_concat(OpRegistry& registry) {
  registry.add({.type = "ConcatV2",
                .onnx_type = "Concat",
                .signature = {"a1*:1+", "!axis=int"},
                .kind = OpKind::kMove,
                .infer = infer_concat,
                .compute = compute_concat,
                .has_image_formats = true,
                .slices = joined_apart,
                .moved = kEveryInput,
                .first_input_may_be_constant = true});
  registry.add({.type = "SplitV",
                .onnx_type = "Split",
                .versions = {1, 13},
                .signature = {"a:1+ l?@13:1", "axis=int split=ints:0.. num_outputs=1.."},
                .kind = OpKind::kMove,
                .infer = infer_split,
                .compute = compute_split,
                .first_parameter = 1,
                .has_image_formats = true,
                .slices = apart_but_for_axis(0),
                .moved = 1});
}

}  // namespace aoe::reference
