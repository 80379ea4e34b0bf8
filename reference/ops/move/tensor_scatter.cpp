// TensorScatter: rows written into a cache, each image of the batch at a place of its own.
#include "reference/fail.h"
#include "reference/op.h"
#include "reference/tensors/axes.h"
#include "reference/tensors/cache_rows.h"

namespace aoe::reference {
namespace {

std::vector<TensorDesc> infer_tensor_scatter(const InferContext& ctx) {
  const Shape &cache = ctx.shape(0), &update = ctx.shape(1);
  const std::size_t axis = CacheRows::axis(ctx.attrs, cache.size());
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
  const CacheRows rows(ctx.attrs, ctx.inputs);
  rows.write(ctx.outputs[0], 0, rows.slabs());
}

}  // namespace

void register_tensor_scatter(OpRegistry& registry) {
  registry.add({.type = "TensorScatter",
                .versions = {24},
                .signature = {"a1:2+ a1:2+ l?:1", "axis=int mode=linear|circular"},
                .kind = OpKind::kMove,
                .infer = infer_tensor_scatter,
                .compute = compute_tensor_scatter,
                .min_inputs = 2,
                .writes_in_place = true});
}

}  // namespace aoe::reference
