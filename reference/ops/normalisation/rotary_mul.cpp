// RotaryMul: pairs of elements turned by angles, as rotary position embedding has them. x is (batch, heads, tokens, size), or
// with heads_axis=2 (batch, tokens, heads, size); cosines and sines are (batch or 1, tokens, pairs). Elements behind the first
// 2 * pairs stay. Pairs are half of these apart, or with interleaved=1 neighbours.
#include "reference/elements/doubles.h"
#include "reference/fail.h"
#include "reference/op.h"
#include "reference/slicing.h"
#include "reference/tensors/rotary_rows.h"
#include "reference/tensors/widen.h"

namespace aoe::reference {
namespace {

bool differ(std::int64_t a, std::int64_t b) {
  return a != kUnknownDim && b != kUnknownDim && a != b;
}

std::vector<TensorDesc> infer_rotary_mul(const InferContext& ctx) {
  TensorDesc y = ctx.inputs[0].desc;
  Shape& x = y.shape;
  std::int64_t& tokens = x[RotaryRows::tokens_axis(ctx.attrs)];
  for (std::size_t i = 1; i < 3; ++i) {
    const Shape& angles = ctx.shape(i);
    if ((angles[0] != 1 && differ(angles[0], x[0])) || differ(angles[1], tokens) ||
        differ(angles[2], ctx.shape(1)[2]))
      fail_model("angles " + to_string(angles) + " for " + std::to_string(x[0]) + " times " +
                 std::to_string(tokens) + " tokens");
    if (angles[2] != kUnknownDim && x[3] != kUnknownDim && 2 * angles[2] > x[3])
      fail_model(std::to_string(angles[2]) + " angles are too many for heads of " +
                 std::to_string(x[3]) + " elements");
    if (x[0] == kUnknownDim && angles[0] > 1) x[0] = angles[0];
    if (tokens == kUnknownDim) tokens = angles[1];
  }
  return {y};
}

void compute_rotary_mul(const OpContext& ctx) {
  const std::vector<double> x = to_doubles(ctx.inputs[0]), cos = to_doubles(ctx.inputs[1]),
                            sin = to_doubles(ctx.inputs[2]);
  const RotaryRows rows(ctx.attrs, ctx.inputs);
  std::vector<double> y = x;
  const std::int64_t step = rows.is_interleaved ? 2 : 1,
                     other = rows.is_interleaved ? 1 : rows.pairs;
  for (std::int64_t row = 0; row < rows.count; ++row)
    for (std::int64_t pair = 0; pair < rows.pairs; ++pair) {
      const auto a = static_cast<std::size_t>(row * rows.size + pair * step);
      const std::size_t b = a + static_cast<std::size_t>(other);
      const double c = cos[static_cast<std::size_t>(rows.angles(row, 1) + pair)],
                   s = sin[static_cast<std::size_t>(rows.angles(row, 2) + pair)];
      y[a] = x[a] * c - x[b] * s;
      y[b] = x[a] * s + x[b] * c;
    }
  from_doubles(y, ctx.outputs[0]);
}

/// Heads read all angles; images and tokens their own.
bool apart(const Slicing& slicing) {
  const int axis = slicing.axes[0];
  if (axis < 0 || axis > 2 || slicing.output_axes[0] != axis) return false;
  if (axis == static_cast<int>(3 - RotaryRows::tokens_axis(slicing.attrs)))
    return slicing.are_whole(1);
  const auto is_own = [&](std::size_t i) {
    return slicing.axes[i] == (axis == 0 ? 0 : 1) ||
           (axis == 0 && slicing.is_whole(i) && slicing.shape(i)[0] == 1);
  };
  return is_own(1) && is_own(2);
}

double turns(const CostContext& cost) {
  return 3 * cost.output_elements();
}

}  // namespace

void register_rotary_mul(OpRegistry& registry) {
  registry.add({.type = "RotaryMul",
                .onnx_type = "",
                .signature = {"f1:4 f1:3 f1:3", "heads_axis=1..2 interleaved=0..1"},
                .kind = OpKind::kNormalisation,
                .infer = infer_rotary_mul,
                .compute = compute_rotary_mul,
                .flops = turns,
                .min_inputs = 3,
                .slices = apart});
}

}  // namespace aoe::reference
