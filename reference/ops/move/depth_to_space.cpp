// DepthToSpace and SpaceToDepth: channels spread over blocks of pixels, and back. Both are transpositions in 6-D.
#include "base/size.h"
#include "reference/elements/typed.h"
#include "reference/op.h"
#include "reference/slicing.h"
#include "reference/tensors/strided.h"

namespace aoe::reference {
namespace {

std::int64_t block_size(const Attrs& attrs) {
  const std::int64_t size = attrs.get_int("blocksize", 0);
  if (size < 1) fail_model("attribute 'blocksize' is " + std::to_string(size));
  return size;
}

void check_rank(const Shape& shape) {
  if (shape.size() != 4) fail_model("the shape is " + to_string(shape) + ", expected N,C,H,W");
}

std::int64_t divided(std::int64_t dim, std::int64_t divisor) {
  if (dim == kUnknownDim) return dim;
  if (dim % divisor != 0)
    fail_model("dimension " + std::to_string(dim) + " is not a multiple of " +
               std::to_string(divisor));
  return dim / divisor;
}

std::vector<TensorDesc> infer_depth_to_space(const InferContext& ctx) {
  const Shape& in = ctx.shape(0);
  check_rank(in);
  const std::int64_t b = block_size(ctx.attrs);
  return {{.dtype = ctx.dtype(0),
           .shape = {in[0], divided(in[1], b * b), checked_product(in[2], b),
                     checked_product(in[3], b)}}};
}

std::vector<TensorDesc> infer_space_to_depth(const InferContext& ctx) {
  const Shape& in = ctx.shape(0);
  check_rank(in);
  const std::int64_t b = block_size(ctx.attrs);
  return {{.dtype = ctx.dtype(0),
           .shape = {in[0], checked_product(in[1], b * b), divided(in[2], b), divided(in[3], b)}}};
}

/// Strides over (n, c, h, block row, w, block column) of the tensor whose pixels are spread out.
Strides space_strides(const Shape& spread, std::int64_t b) {
  const Strides s = dense_strides(spread);
  return {s[0], s[1], b * s[2], s[2], b * s[3], s[3]};
}

/// The same of the tensor that has the blocks in its channels: block by block, or with the block innermost (CRD).
Strides depth_strides(const Shape& deep, std::int64_t b, bool is_crd) {
  const Strides s = dense_strides(deep);
  const std::int64_t channels = deep[1] / (b * b);
  const std::int64_t channel = is_crd ? b * b : 1;
  const std::int64_t block_column = is_crd ? 1 : channels;
  return {s[0], channel * s[1], s[2], b * block_column * s[1], s[3], block_column * s[1]};
}

bool is_crd(const Attrs& attrs) {
  const std::string mode = attrs.get_string("mode", "DCR");
  if (mode != "DCR" && mode != "CRD")
    fail_model("mode '" + mode + "' is unknown, expected DCR or CRD");
  return mode == "CRD";
}

void compute_depth_to_space(const OpContext& ctx) {
  const Tensor& in = ctx.inputs[0];
  const Tensor& out = ctx.outputs[0];
  const std::int64_t b = block_size(ctx.attrs);
  const Shape& deep = in.desc.shape;
  copy_strided(in.desc.dtype, {deep[0], deep[1] / (b * b), deep[2], b, deep[3], b},
               {in.data, 0, depth_strides(deep, b, is_crd(ctx.attrs))},
               {out.data, 0, space_strides(out.desc.shape, b)});
}

void compute_space_to_depth(const OpContext& ctx) {
  const Tensor& in = ctx.inputs[0];
  const Tensor& out = ctx.outputs[0];
  const std::int64_t b = block_size(ctx.attrs);
  const Shape& deep = out.desc.shape;
  copy_strided(in.desc.dtype, {deep[0], deep[1] / (b * b), deep[2], b, deep[3], b},
               {in.data, 0, space_strides(in.desc.shape, b)},
               {out.data, 0, depth_strides(deep, b, false)});
}

}  // namespace

void register_depth_to_space(OpRegistry& registry) {
  registry.add({.type = "DepthToSpace",
                .signature = {"a:4", "!blocksize=1.. mode=DCR|CRD"},
                .kind = OpKind::kMove,
                .infer = infer_depth_to_space,
                .compute = compute_depth_to_space,
                .slices = images_apart,
                .moved = 1});
  registry.add({.type = "SpaceToDepth",
                .signature = {"a:4", "!blocksize=1.."},
                .kind = OpKind::kMove,
                .infer = infer_space_to_depth,
                .compute = compute_space_to_depth,
                .slices = images_apart,
                .moved = 1});
}

}  // namespace aoe::reference
