// MatMulNBits of com.microsoft: a product with weights of 2, 4 or 8 bits, in blocks with a scale each. They stay packed.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>

#include "base/error.h"
#include "graph/import/quantized_terms.h"
#include "reference/products/packed_weights.h"

namespace aoe::graph {
namespace {

using reference::PackedWeights;

enum NBitsInput : std::size_t { kA, kB, kScales, kZeros, kGroups, kBias };

PackedWeights packing_of(const FunctionCall& call) {
  const auto get = [&](const char* name, std::int64_t fallback) {
    return call.attrs().get_int(name, fallback);
  };
  const PackedWeights w{
      .n = get("N", 0), .k = get("K", 0), .bits = get("bits", 4), .block = get("block_size", 0)};
  constexpr std::int64_t kMost = std::int64_t{1} << 31;  // so that no product overflows
  if (w.k <= 0 || w.n <= 0 || w.k > kMost || w.n > kMost || w.block > kMost ||
      !PackedWeights::is_block(w.block))
    throw Error(ExitCode::kModel,
                "K, N and block_size must be there, block_size a power of two from 16 on");
  if (!PackedWeights::are_bits(w.bits))
    throw NotExpressible{"its weights have " + std::to_string(w.bits) + " bits"};
  return w;
}

/// An input brought to `shape`; models write some of them flat.
Term shaped(FunctionCall& call, Term value, const Shape& shape, const char* what) {
  if (call.shape(value) == shape) return value;
  if (element_count(call.shape(value)) != element_count(shape))
    throw Error(ExitCode::kModel, std::string("its ") + what + " are " +
                                      to_string(call.shape(value)) +
                                      ", K, N, bits and block_size "
                                      "need " +
                                      to_string(shape));
  return call.reshape(value, shape);
}

/// Columns in an order in which those of a block lie side by side: g_idx says of each which block it belongs to. None where
/// there is no such order, or g_idx is computed.
std::optional<std::vector<std::int64_t>> order_by_block(FunctionCall& call,
                                                        const PackedWeights& w) {
  if (call.dim(call.input(kGroups), 0) < w.k)
    throw Error(ExitCode::kModel, "its g_idx has " +
                                      std::to_string(call.dim(call.input(kGroups), 0)) +
                                      " elements, K is " + std::to_string(w.k));
  if (call.known(call.input(kGroups)) == nullptr) return std::nullopt;
  const std::vector<std::int64_t> blocks = call.known_ints(call.input(kGroups));
  std::vector<std::int64_t> order(static_cast<std::size_t>(w.k));
  std::iota(order.begin(), order.end(), 0);
  const auto block_of = [&](std::int64_t column) {
    return blocks[static_cast<std::size_t>(column)];
  };
  std::ranges::stable_sort(order, {}, block_of);
  for (std::int64_t i = 0; i < w.k; ++i)
    if (block_of(order[static_cast<std::size_t>(i)]) != i / w.block) return std::nullopt;
  return order;
}

/// Packed weights with their columns in that order.
Term reordered(FunctionCall& call, Term weights, const PackedWeights& w,
               std::vector<std::int64_t> order) {
  const std::int64_t columns = w.blocks() * w.block;
  for (std::int64_t i = w.k; i < columns; ++i) order.push_back(i);
  const Term rows = call.reshape(weights, {w.n, w.row_bytes()});
  const Term values =
      call.op("Gather", {unpacked(call, rows, w.bits, columns), call.ints(order)}, with_axis(1));
  reference::Attrs left;
  left.set("direction", "LEFT");
  Term packed = call.slice(values, 1, 0, columns, w.per_byte());
  for (std::int64_t i = 1; i < w.per_byte(); ++i) {
    const Term by = call.number(static_cast<double>(i * w.bits), DataType::kUint8);
    const Term part = call.slice(values, 1, i, columns, w.per_byte());
    packed = call.op("BitwiseOr", {packed, call.op("BitShift", {part, by}, left)});
  }
  return call.reshape(packed, {w.n, w.blocks(), w.block_bytes()});
}

/// The weights as numbers, K x N: each column takes scale and zero point of the block that g_idx says.
Term unpacked_weights(FunctionCall& call, Term weights, Term scales, Term zeros,
                      const PackedWeights& w) {
  const auto numbers = [&](Term bytes, const Shape& rows, std::int64_t count) {
    const Term all = call.reshape(bytes, rows);
    return call.cast(call.slice(unpacked(call, all, w.bits, rows[1] * w.per_byte()), 1, 0, count),
                     DataType::kFloat);
  };
  const Term blocks = call.slice(call.input(kGroups), 0, 0, w.k);
  const auto of_blocks = [&](Term value) {
    return call.op("Gather", {value, blocks}, with_axis(1));
  };
  Term zero = call.number(std::exp2(static_cast<double>(w.bits - 1)), DataType::kFloat);
  if (zeros.id != kNone)
    zero = of_blocks(call.dtype(zeros) == DataType::kUint8
                         ? numbers(zeros, {w.n, w.zero_row_bytes()}, w.blocks())
                         : zeros);
  const Term q = numbers(weights, {w.n, w.row_bytes()}, w.k);
  return call.transpose((q - zero) * of_blocks(scales), {1, 0});
}

void expand_matmul_nbits(FunctionCall& call) {
  const PackedWeights w = packing_of(call);
  Term a = call.input(kA);
  if (call.is_open(a, -1)) {
    Shape dims(static_cast<std::size_t>(call.rank(a)), 0);
    dims.back() = w.k;
    a = call.reshape(a, dims);
  }
  if (call.dim(a, -1) != w.k)
    throw Error(ExitCode::kModel, "its input has rows of " + std::to_string(call.dim(a, -1)) +
                                      " elements, K is " + std::to_string(w.k));
  const Shape by_block = {w.n, w.blocks()};
  const auto floats = [&](NBitsInput i) { return call.cast(call.input(i), DataType::kFloat); };
  Term zeros = call.absent();
  if (call.has(kZeros)) {
    const bool is_packed = call.dtype(call.input(kZeros)) == DataType::kUint8;
    zeros = is_packed ? shaped(call, call.input(kZeros), {w.n, w.zero_row_bytes()}, "zero points")
                      : shaped(call, floats(kZeros), by_block, "zero points");
  }
  Term weights = shaped(call, call.input(kB), {w.n, w.blocks(), w.block_bytes()}, "weights");
  const Term scales = shaped(call, floats(kScales), by_block, "scales");
  const Term bias = call.has(kBias) ? floats(kBias) : call.absent();
  if (call.has(kGroups)) {
    const auto order = order_by_block(call, w);
    if (!order) {
      Term y = call.matmul(call.cast(a, DataType::kFloat),
                           unpacked_weights(call, weights, scales, zeros, w));
      if (bias.id != kNone) y = y + bias;
      return call.give(0, call.cast(y, call.dtype(a)));
    }
    a = call.op("Gather", {a, call.ints(*order)}, with_axis(-1));
    weights = reordered(call, weights, w, *order);
  }
  reference::Attrs attrs;
  attrs.set("bits", w.bits);
  attrs.set("block_size", w.block);
  constexpr std::int64_t kBytes = 4;
  if (call.attrs().get_int("accuracy_level", 0) == kBytes) attrs.set("rounds_x", std::int64_t{1});
  const Term y = call.op("WeightQuantBatchMatmulV2",
                         {call.cast(a, DataType::kFloat), weights, scales, zeros, bias}, attrs);
  call.give(0, call.cast(y, call.dtype(a)));
}

}  // namespace

void register_matmul_nbits(FunctionRegistry& registry) {
  registry.add({kMicrosoft, "MatMulNBits", expand_matmul_nbits});
}

}  // namespace aoe::graph
