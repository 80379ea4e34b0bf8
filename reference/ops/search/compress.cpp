// NonZero and Compress: outputs as long as there are elements that count, so their values must be known to infer them.
#include <algorithm>
#include <cstring>

#include "reference/elements/typed.h"
#include "reference/op.h"
#include "reference/tensors/axes.h"
#include "reference/tensors/indices.h"
#include "reference/tensors/strided.h"

namespace aoe::reference {
namespace {

std::vector<TensorDesc> infer_nonzero(const InferContext& ctx) {
  const auto rank = static_cast<std::int64_t>(ctx.shape(0).size());
  if (!ctx.has_value(0)) return {{.dtype = DataType::kInt64, .shape = {rank, kUnknownDim}}};
  const std::vector<bool> flags = read_as<bool>(ctx.inputs[0]);
  return {
      {.dtype = DataType::kInt64, .shape = {rank, std::count(flags.begin(), flags.end(), true)}}};
}

/// One row per dimension, one column per element that is not zero.
void compute_nonzero(const OpContext& ctx) {
  const std::vector<bool> flags = read_as<bool>(ctx.inputs[0]);
  const Shape& shape = ctx.inputs[0].desc.shape;
  const Strides strides = dense_strides(shape);
  const std::int64_t columns = ctx.outputs[0].desc.shape[1];
  std::int64_t column = 0;
  for (std::size_t i = 0; i < flags.size(); ++i) {
    if (!flags[i]) continue;
    for (std::size_t d = 0; d < shape.size(); ++d) {
      ctx.outputs[0].as<std::int64_t>()[static_cast<std::int64_t>(d) * columns + column] =
          static_cast<std::int64_t>(i) / strides[d] % shape[d];
    }
    ++column;
  }
}

/// The data around the axis; without one it counts as flat.
AxisView compress_view(const Attrs& attrs, const Shape& shape) {
  if (!attrs.has("axis")) return {1, element_count(shape), 1};
  return view_axis(shape, normalize_axis(attrs.get_int("axis", 0), shape.size()));
}

/// The positions to keep. The condition may be shorter than the axis; what it does not reach is dropped.
std::vector<std::int64_t> kept_positions(const Tensor& condition, std::int64_t dim) {
  const std::vector<bool> flags = read_as<bool>(condition);
  std::vector<std::int64_t> kept;
  for (std::size_t i = 0; i < flags.size(); ++i) {
    if (!flags[i]) continue;
    if (static_cast<std::int64_t>(i) >= dim)
      fail_model("the condition keeps element " + std::to_string(i) + " of " + std::to_string(dim));
    kept.push_back(static_cast<std::int64_t>(i));
  }
  return kept;
}

std::vector<TensorDesc> infer_compress(const InferContext& ctx) {
  const Shape& in = ctx.shape(0);
  std::int64_t kept = kUnknownDim;
  const std::int64_t dim = compress_view(ctx.attrs, in).dim;
  if (ctx.has_value(1) && dim != kUnknownDim)
    kept = static_cast<std::int64_t>(kept_positions(ctx.inputs[1], dim).size());
  if (!ctx.attrs.has("axis")) return {{.dtype = ctx.dtype(0), .shape = {kept}}};
  Shape out = in;
  out[normalize_axis(ctx.attrs.get_int("axis", 0), in.size())] = kept;
  return {{.dtype = ctx.dtype(0), .shape = std::move(out)}};
}

void compute_compress(const OpContext& ctx) {
  const Tensor& in = ctx.inputs[0];
  const AxisView view = compress_view(ctx.attrs, in.desc.shape);
  const std::vector<std::int64_t> kept = kept_positions(ctx.inputs[1], view.dim);
  const std::size_t block_bytes =
      static_cast<std::size_t>(view.inner) * element_bytes(in.desc.dtype);
  char* out = ctx.outputs[0].as<char>();
  for (std::int64_t o = 0; o < view.outer; ++o) {
    for (const std::int64_t position : kept) {
      std::memcpy(out,
                  in.as<char>() + static_cast<std::size_t>(o * view.dim + position) * block_bytes,
                  block_bytes);
      out += block_bytes;
    }
  }
}

}  // namespace

void register_compress(OpRegistry& registry) {
  registry.add({.type = "NonZero",
                .signature = {"a"},
                .kind = OpKind::kSearch,
                .infer = infer_nonzero,
                .compute = compute_nonzero,
                .infers_from_values = true});
  registry.add({.type = "Compress",
                .signature = {"a b:1", "axis=int"},
                .kind = OpKind::kSearch,
                .infer = infer_compress,
                .compute = compute_compress,
                .min_inputs = 2,
                .infers_from_values = true});
}

}  // namespace aoe::reference
