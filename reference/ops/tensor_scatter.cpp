// TensorScatter: rows written into a cache, each image of the batch at a place of its own.
#include <cstring>

#include "reference/axes.h"
#include "reference/fail.h"
#include "reference/op.h"
#include "reference/widen.h"

namespace aoe::reference {
namespace {

std::size_t sequence_axis(const Attrs& attrs, std::size_t rank) {
  const std::size_t axis = normalize_axis(attrs.get_int("axis", -2), rank);
  if (axis == 0) fail_model("axis is that of the batch");
  return axis;
}

std::vector<TensorDesc> infer_tensor_scatter(const InferContext& ctx) {
  const Shape &cache = ctx.shape(0), &update = ctx.shape(1);
  const std::size_t axis = sequence_axis(ctx.attrs, cache.size());
  if (update.size() != cache.size())
    fail_model("update " + to_string(update) + " for a cache of " + to_string(cache));
  Shape needed = cache;
  needed[axis] = update[axis];
  check_same_shape(update, needed, "the update");
  if (cache[axis] != kUnknownDim && update[axis] > cache[axis])
    fail_model("update " + to_string(update) + " is longer than the cache " + to_string(cache));
  if (ctx.has_input(2)) check_vector(ctx.shape(2), cache[0], "write_indices");
  return {ctx.inputs[0].desc};
}

void compute_tensor_scatter(const OpContext& ctx) {
  const Tensor &cache = ctx.inputs[0], &update = ctx.inputs[1], &present = ctx.outputs[0];
  const std::size_t axis = sequence_axis(ctx.attrs, cache.desc.shape.size());
  const AxisView to = view_axis(cache.desc.shape, axis), from = view_axis(update.desc.shape, axis);
  const bool is_circular = ctx.attrs.get_string("mode", "linear") == "circular";
  const std::int64_t batch = cache.desc.shape[0];
  std::vector<std::int64_t> begins(static_cast<std::size_t>(batch), 0);
  if (ctx.has_input(2)) begins = to_int64s(ctx.inputs[2]);
  for (std::size_t image = 0; image < begins.size() && !is_circular; ++image)
    if (begins[image] < 0 || begins[image] + from.dim > to.dim)
      fail_model("write index " + std::to_string(begins[image]) + " puts " +
                 std::to_string(from.dim) + " rows outside a cache of " + std::to_string(to.dim));
  if (present.data !=
      cache.data)  // else it is added to where it lies: see runtime/shared_buffers.h
    std::memcpy(present.data, cache.data, storage_bytes(cache.desc));
  const std::size_t row = static_cast<std::size_t>(to.inner) * size_bytes(cache.desc.dtype);
  for (std::int64_t outer = 0; outer < to.outer; ++outer) {
    const std::int64_t begin = begins[static_cast<std::size_t>(outer / (to.outer / batch))];
    for (std::int64_t i = 0; i < from.dim; ++i) {
      std::int64_t at = begin + i;
      if (is_circular) at = (at % to.dim + to.dim) % to.dim;
      std::memcpy(present.as<char>() + static_cast<std::size_t>(outer * to.dim + at) * row,
                  update.as<char>() + static_cast<std::size_t>(outer * from.dim + i) * row, row);
    }
  }
}

}  // namespace

void register_tensor_scatter(OpRegistry& registry) {
  registry.add({.type = "TensorScatter",
                .onnx_type = "TensorScatter",
                .versions = {24},
                .kind = OpKind::kMove,
                .infer = infer_tensor_scatter,
                .compute = compute_tensor_scatter,
                .min_inputs = 2,
                .writes_in_place = true});
}

}  // namespace aoe::reference
