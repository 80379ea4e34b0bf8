// WeightQuantBatchMatmulV2: a product with weights of 2, 4 or 8 bits in blocks with a scale each, which stay packed:
// x (..., k), weight (n, blocks, bytes of a block), scale (n, blocks), zero points like the weights (n, bytes) or like the
// scales, bias (n). MatMulNBits of com.microsoft is imported as this; with accuracy_level=4, which allows it, x is rounded to bytes.
#include <algorithm>
#include <cmath>

#include "reference/elements/doubles.h"
#include "reference/fail.h"
#include "reference/op.h"
#include "reference/products/packed_weights.h"
#include "reference/slicing.h"
#include "reference/tensors/axes.h"
#include "reference/tensors/widen.h"

namespace aoe::reference {
namespace {

PackedWeights check_packing(const InferContext& context) {
  const PackedWeights w =
      packed_weights(context.attrs, context.shape(kPackedX), context.shape(kPackedWeight));
  if (!PackedWeights::are_bits(w.bits))
    fail_model("its weights have " + std::to_string(w.bits) + " bits, needs 2, 4 or 8");
  if (!PackedWeights::is_block(w.block))
    fail_model("its blocks have " + std::to_string(w.block) +
               " elements, needs a power of two from 16 on");
  return w;
}

std::vector<TensorDesc> infer_packed(const InferContext& context) {
  const PackedWeights w = check_packing(context);
  Shape output = context.shape(kPackedX);
  output.back() = w.n;
  if (w.k != kUnknownDim && w.n != kUnknownDim) {
    check_same_shape(context.shape(kPackedWeight), {w.n, w.blocks(), w.block_bytes()}, "weights");
    check_same_shape(context.shape(kPackedScale), {w.n, w.blocks()}, "scales");
    if (context.has_input(kPackedZero))
      check_same_shape(
          context.shape(kPackedZero),
          {w.n, context.dtype(kPackedZero) == DataType::kUint8 ? w.zero_row_bytes() : w.blocks()},
          "zero points");
    if (context.has_input(kPackedBias))
      check_same_shape(context.shape(kPackedBias), {w.n}, "the bias");
  }
  return {{.dtype = context.dtype(kPackedX), .shape = std::move(output)}};
}

/// By row and block.
std::vector<double> zero_points(const OpContext& context, const PackedWeights& w) {
  const auto count = static_cast<std::size_t>(w.n * w.blocks());
  if (!context.has_input(kPackedZero)) return std::vector<double>(count, w.middle());
  const Tensor& packed = context.inputs[kPackedZero];
  if (packed.desc.dtype != DataType::kUint8) return to_doubles(packed);
  std::vector<double> zeros;
  for (std::int64_t row = 0; row < w.n; ++row)
    for (std::int64_t block = 0; block < w.blocks(); ++block)
      zeros.push_back(w.at(packed.as<std::uint8_t>() + row * w.zero_row_bytes(), block));
  return zeros;
}

/// Blocks of x as what their bytes stand for; in float32, as kernels compute it.
void round_blocks(std::vector<double>& x, const PackedWeights& w) {
  const std::int64_t rows = w.k == 0 ? 0 : std::ssize(x) / w.k;
  for (std::int64_t row = 0; row < rows; ++row)
    for (std::int64_t first = 0; first < w.k; first += w.block) {
      const auto block =
          std::span(x).subspan(static_cast<std::size_t>(row * w.k + first),
                               static_cast<std::size_t>(std::min(w.block, w.k - first)));
      float most = 0;
      for (const double value : block)  // NaN stays
        most = std::isnan(value) ? NAN : std::max(most, static_cast<float>(std::abs(value)));
      const float steps = most > PackedWeights::kSmallest ? 127 / most : 0;
      for (double& value : block)
        value = std::nearbyint(static_cast<float>(value) * steps) * (most / 127);
    }
}

void compute_packed(const OpContext& context) {
  const Tensor &x = context.inputs[kPackedX], &y = context.outputs[0];
  const PackedWeights w =
      packed_weights(context.attrs, x.desc.shape, context.inputs[kPackedWeight].desc.shape);
  const auto* bytes = context.inputs[kPackedWeight].as<std::uint8_t>();
  auto left = to_doubles(x);
  if (rounds_x(context.attrs)) round_blocks(left, w);
  const auto scales = to_doubles(context.inputs[kPackedScale]);
  const auto zeros = zero_points(context, w);
  const auto bias = context.has_input(kPackedBias) ? to_doubles(context.inputs[kPackedBias])
                                                   : std::vector<double>{};
  const std::int64_t rows = w.k == 0 ? 0 : x.elements() / w.k;
  std::vector<double> values = doubles(static_cast<std::size_t>(rows * w.n)),
                      row(static_cast<std::size_t>(w.k));
  for (std::int64_t n = 0; n < w.n; ++n) {
    for (std::int64_t k = 0; k < w.k; ++k) {
      const auto block = static_cast<std::size_t>(n * w.blocks() + k / w.block);
      row[static_cast<std::size_t>(k)] =
          (w.at(bytes + n * w.row_bytes(), k) - zeros[block]) * scales[block];
    }
    for (std::int64_t m = 0; m < rows; ++m) {
      double sum = bias.empty() ? 0 : bias[static_cast<std::size_t>(n)];
      for (std::int64_t k = 0; k < w.k; ++k)
        sum += left[static_cast<std::size_t>(m * w.k + k)] * row[static_cast<std::size_t>(k)];
      values[static_cast<std::size_t>(m * w.n + n)] = sum;
    }
  }
  from_doubles(values, y);
}

double products(const CostContext& cost) {
  return 2 * cost.output_elements() * static_cast<double>(cost.inputs[kPackedX].shape.back());
}

}  // namespace

void register_weight_quant_matmul(OpRegistry& registry) {
  registry.add(
      {.type = "WeightQuantBatchMatmulV2",
       .onnx_type = "",
       .signature = {"s:1+ q:3 s:2 n?:2 s?:1", "!bits=2..8 !block_size=16.. rounds_x=0..1"},
       .kind = OpKind::kProduct,
       .infer = infer_packed,
       .compute = compute_packed,
       .flops = products,
       .min_inputs = 3,
       .slices = apart_but_for([](const Slicing& slicing) {
         std::vector<bool> flags(slicing.shape(0).size(), false);
         flags.back() = true;  // of factors
         return flags;
       }),
       .free_values = {kPackedWeight, kPackedScale, kPackedZero, kPackedBias}});
}

}  // namespace aoe::reference
