// Identity and Dropout, which is an identity with a mask that keeps everything unless it trains. With a seed its random numbers repeat;
// they are not those of any other runtime.
#include <algorithm>
#include <random>

#include "reference/elements/doubles.h"
#include "reference/elementwise.h"
#include "reference/tensors/widen.h"

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

/// The share of elements that a call drops at random: none unless it trains.
double dropped_share(const OpContext& ctx) {
  if (ctx.version < 12 || !ctx.has_input(2) || !read_scalar<bool>(ctx.inputs[2], "training_mode"))
    return 0;
  const float ratio = ctx.has_input(1) ? read_scalar<float>(ctx.inputs[1], "ratio") : 0.5f;
  if (!(ratio >= 0 && ratio < 1))
    fail_model("ratio is " + std::to_string(ratio) + ", needs [0, 1)");
  return ratio;
}

/// What is kept makes up for what is dropped.
void drop_elements(const OpContext& ctx, double share) {
  const std::int64_t seed = ctx.attrs.get_int("seed", 0);
  std::mt19937_64 engine(ctx.attrs.has("seed") ? static_cast<std::uint64_t>(seed)
                                               : std::random_device{}());
  std::uniform_real_distribution<double> uniform(0, 1);
  std::vector<double> values = to_doubles(ctx.inputs[0]), mask = doubles(values.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    mask[i] = uniform(engine) < share ? 0 : 1;
    values[i] = mask[i] == 0 ? 0 : values[i] / (1 - share);
  }
  if (ctx.has_output(0)) from_doubles(values, ctx.outputs[0]);
  if (ctx.has_output(1)) from_doubles(mask, ctx.outputs[1]);
}

void compute_dropout(const OpContext& ctx) {
  if (const double share = dropped_share(ctx); share > 0) return drop_elements(ctx, share);
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
                .compute = compute_dropout,
                .is_deterministic = false});
}

}  // namespace aoe::reference
