// Repeating elements: Expand (by broadcasting) and Tile (side by side).
#include "base/size.h"
#include "reference/elements/typed.h"
#include "reference/op.h"
#include "reference/slicing.h"
#include "reference/tensors/axes.h"
#include "reference/tensors/broadcast.h"
#include "reference/tensors/strided.h"

namespace aoe::reference {
namespace {

std::vector<TensorDesc> infer_expand(const InferContext& ctx) {
  if (ctx.has_value(1)) {
    const Shape target = read_ints(ctx.inputs[1]);
    check_not_negative(target, "the shape");
    return {{.dtype = ctx.dtype(0), .shape = broadcast_shapes(ctx.shape(0), target)}};
  }
  const std::int64_t rank = element_count(ctx.shape(1));
  if (rank == kUnknownDim) throw Undetermined{};
  Shape out = broadcast_shapes(ctx.shape(0), Shape(static_cast<std::size_t>(rank), kUnknownDim));
  return {{.dtype = ctx.dtype(0), .shape = std::move(out)}};
}

void compute_expand(const OpContext& ctx) {
  const Tensor& in = ctx.inputs[0];
  const Shape& shape = ctx.outputs[0].desc.shape;
  copy_strided(in.desc.dtype, shape, {in.data, 0, broadcast_strides(in.desc.shape, shape)},
               {ctx.outputs[0].data, 0, dense_strides(shape)});
}

std::vector<TensorDesc> infer_tile(const InferContext& ctx) {
  Shape out = ctx.shape(0);
  if (!ctx.has_value(1)) return {{.dtype = ctx.dtype(0), .shape = Shape(out.size(), kUnknownDim)}};
  const std::vector<std::int64_t> repeats = read_ints(ctx.inputs[1]);
  if (repeats.size() != out.size())
    fail_model(std::to_string(repeats.size()) + " repeats for a tensor of rank " +
               std::to_string(out.size()));
  check_not_negative(repeats, "repeats");
  for (std::size_t d = 0; d < out.size(); ++d) {
    if (out[d] != kUnknownDim) out[d] = checked_product(out[d], repeats[d]);
  }
  return {{.dtype = ctx.dtype(0), .shape = std::move(out)}};
}

/// Each dimension d becomes the pair (repeats, d): reading does not move along the first of them.
void compute_tile(const OpContext& ctx) {
  const Tensor& in = ctx.inputs[0];
  const std::vector<std::int64_t> repeats = read_ints(ctx.inputs[1]);
  const Strides own = dense_strides(in.desc.shape);
  Shape shape;
  Strides from;
  for (std::size_t d = 0; d < own.size(); ++d) {
    shape.insert(shape.end(), {repeats[d], in.desc.shape[d]});
    from.insert(from.end(), {0, own[d]});
  }
  copy_strided(in.desc.dtype, shape, {in.data, 0, from},
               {ctx.outputs[0].data, 0, dense_strides(shape)});
}

bool stretched_apart(const Slicing& slicing) {
  return slicing.are_whole(1) && elements_apart(slicing);
}

std::vector<bool> tiled_axes(const Slicing& slicing) {
  std::vector<bool> flags;
  if (slicing.inputs[1].data != nullptr)
    for (const std::int64_t count : read_ints(slicing.inputs[1])) flags.push_back(count != 1);
  return flags;
}

}  // namespace

void register_expand(OpRegistry& registry) {
  registry.add({.type = "Expand",
                .signature = {"a l:1"},
                .kind = OpKind::kMove,
                .infer = infer_expand,
                .compute = compute_expand,
                .first_parameter = 1,
                .min_inputs = 2,
                .slices = stretched_apart,
                .moved = 1});
  registry.add({.type = "Tile",
                .signature = {"a l:1"},
                .kind = OpKind::kMove,
                .infer = infer_tile,
                .compute = compute_tile,
                .first_parameter = 1,
                .min_inputs = 2,
                .slices = apart_but_for(tiled_axes),
                .moved = 1});
}

}  // namespace aoe::reference
