// MatMulNBits of com.microsoft: a product with weights of 2, 4 or 8 bits, in blocks with a scale each.
//
// The weights are unpacked when the model is imported: the product is a float32 one, as fast, and as large.
#include <bit>

#include "base/error.h"
#include "graph/function_call.h"
#include "graph/rewrite.h"

namespace aoe::graph {
namespace {

enum Input : std::size_t { kA, kB, kScales, kZeros, kGroups, kBias };

struct Packing {
  std::int64_t k, n, bits, block, blocks;

  /// Element `i` of row `row`, whose elements lie densely, the first in the lowest bits.
  double at(const std::uint8_t* bytes, std::int64_t row_bytes, std::int64_t row,
            std::int64_t i) const {
    const std::int64_t bit = i * bits;
    return (bytes[row * row_bytes + bit / 8] >> (bit % 8)) & ((1 << bits) - 1);
  }
};

Packing packing_of(const FunctionCall& call) {
  const auto get = [&](const char* name, std::int64_t fallback) {
    return call.attrs().get_int(name, fallback);
  };
  Packing p{.k = get("K", 0),
            .n = get("N", 0),
            .bits = get("bits", 4),
            .block = get("block_size", 0),
            .blocks = 0};
  constexpr std::int64_t kMost = std::int64_t{1} << 31;  // so that no product overflows
  const bool is_known_width = p.bits == 2 || p.bits == 4 || p.bits == 8;
  if (p.k <= 0 || p.n <= 0 || p.k > kMost || p.n > kMost || p.block > kMost || p.block < 16 ||
      !std::has_single_bit(static_cast<std::uint64_t>(p.block)))
    throw Error(ExitCode::kModel,
                "K, N and block_size must be there, block_size a power of two from 16 on");
  if (!is_known_width) throw NotExpressible{"its weights have " + std::to_string(p.bits) + " bits"};
  p.blocks = (p.k + p.block - 1) / p.block;
  return p;
}

ConstantPtr constant_of(FunctionCall& call, Input i, const char* what, std::size_t least_bytes) {
  const ConstantPtr value = call.known(call.input(i));
  if (!value) throw NotExpressible{std::string("its ") + what + " are computed"};
  if (value->size_bytes() < least_bytes)
    throw Error(ExitCode::kModel, std::string("its ") + what + " are " + to_string(value->desc()) +
                                      ", which is too few");
  return value;
}

/// By block: packed like the weights, or of the scales' type; the middle of the range where there are none.
std::vector<double> zero_points(FunctionCall& call, const Packing& p) {
  std::vector<double> zeros(static_cast<std::size_t>(p.n * p.blocks),
                            static_cast<double>(1 << (p.bits - 1)));
  if (!call.has(kZeros)) return zeros;
  const std::int64_t row_bytes = (p.blocks * p.bits + 7) / 8;
  if (call.dtype(call.input(kZeros)) != DataType::kUint8)
    return to_doubles(*constant_of(call, kZeros, "zero points", zeros.size()));
  const ConstantPtr packed =
      constant_of(call, kZeros, "zero points", static_cast<std::size_t>(p.n * row_bytes));
  const auto* bytes = static_cast<const std::uint8_t*>(packed->data());
  for (std::int64_t row = 0; row < p.n; ++row)
    for (std::int64_t block = 0; block < p.blocks; ++block)
      zeros[static_cast<std::size_t>(row * p.blocks + block)] = p.at(bytes, row_bytes, row, block);
  return zeros;
}

/// (k, n) in float32.
std::vector<float> unpacked(FunctionCall& call, const Packing& p) {
  const std::int64_t row_bytes = p.blocks * p.block * p.bits / 8;
  const ConstantPtr packed =
      constant_of(call, kB, "weights", static_cast<std::size_t>(p.n * row_bytes));
  const auto* bytes = static_cast<const std::uint8_t*>(packed->data());
  const ConstantPtr given = call.known(call.cast(call.input(kScales), DataType::kFloat));
  if (!given) throw NotExpressible{"its scales are computed"};
  if (element_count(given->desc().shape) < p.n * p.blocks)
    throw Error(ExitCode::kModel,
                "its scales are " + to_string(given->desc()) + ", which is too few");
  const auto* scales = static_cast<const float*>(given->data());
  const std::vector<double> zeros = zero_points(call, p);
  std::vector<float> weights(static_cast<std::size_t>(p.k * p.n));
  for (std::int64_t row = 0; row < p.n; ++row)
    for (std::int64_t i = 0; i < p.k; ++i) {
      const auto block = static_cast<std::size_t>(row * p.blocks + i / p.block);
      weights[static_cast<std::size_t>(i * p.n + row)] = static_cast<float>(
          (p.at(bytes, row_bytes, row, i) - zeros[block]) * static_cast<double>(scales[block]));
    }
  return weights;
}

void expand(FunctionCall& call) {
  if (call.has(kGroups)) throw NotExpressible{"its blocks are gathered by g_idx"};
  const Packing p = packing_of(call);
  const Term a = call.input(kA);
  const Term weights = call.cast(call.floats({p.k, p.n}, unpacked(call, p)), call.dtype(a));
  Term y = call.matmul(a, weights);
  if (call.has(kBias)) y = y + call.input(kBias);
  call.give(0, y);
}

}  // namespace

void register_matmul_nbits(FunctionRegistry& registry) {
  registry.add({kMicrosoft, "MatMulNBits", expand});
}

}  // namespace aoe::graph
