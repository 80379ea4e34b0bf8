// Identity and Dropout, which at inference is an identity with a mask that keeps everything.
#include <algorithm>

#include "reference/elementwise.h"

namespace aoe::reference {
namespace {

void compute_identity(const OpContext& ctx) {
  copy_dense(ctx.inputs[0], ctx.outputs[0]);
}

/// The mask has the data's type before opset 10, and is bool since.
std::vector<TensorDesc> infer_dropout(const InferContext& ctx) {
  const DataType mask = ctx.version >= 10 ? DataType::kBool : ctx.dtype(0);
  return {ctx.inputs[0].desc, {.dtype = mask, .shape = ctx.shape(0)}};
}

void refuse_training(const OpContext& ctx) {
  if (ctx.version < 12 || !ctx.has_input(2) || !read_scalar<bool>(ctx.inputs[2], "training_mode"))
    return;
  const float ratio = ctx.has_input(1) ? read_scalar<float>(ctx.inputs[1], "ratio") : 0.5f;
  if (ratio != 0) fail_model("training_mode is set; dropping elements at random is not inference");
}

void compute_dropout(const OpContext& ctx) {
  refuse_training(ctx);
  if (ctx.has_output(0)) copy_dense(ctx.inputs[0], ctx.outputs[0]);
  if (!ctx.has_output(1)) return;
  visit_type<AllTypes>(ctx.outputs[1].desc.dtype, [&]<typename T>() {
    std::fill_n(ctx.outputs[1].as<T>(), ctx.outputs[1].elements(), convert<T>(true));
  });
}

}  // namespace

void register_identity(OpRegistry& registry) {
  registry.add({.type = "Identity",
                .signature = {"a"},
                .kind = OpKind::kMove,
                .infer = infer_like_first,
                .compute = compute_identity,
                .moved = 1});
  registry.add({.type = "Dropout",
                .versions = {1, 10, 12},
                .signature = {"f f?@12:0-1 b?@12:0-1", "ratio=float seed=long"},
                .kind = OpKind::kMove,
                .infer = infer_dropout,
                .compute = compute_dropout});
}

}  // namespace aoe::reference
