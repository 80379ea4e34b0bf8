// MatMulNBits of com.microsoft: a product with weights of 2, 4 or 8 bits, in blocks with a scale each. They stay packed.
#include "base/error.h"
#include "graph/function_call.h"
#include "reference/packed_weights.h"

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

void expand_matmul_nbits(FunctionCall& call) {
  if (call.has(kGroups)) throw NotExpressible{"its blocks are gathered by g_idx"};
  const PackedWeights w = packing_of(call);
  const Term a = call.input(kA);
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
  reference::Attrs attrs;
  attrs.set("bits", w.bits);
  attrs.set("block_size", w.block);
  const Term y = call.op(
      "WeightQuantBatchMatmulV2",
      {floats(kA), shaped(call, call.input(kB), {w.n, w.blocks(), w.block_bytes()}, "weights"),
       shaped(call, floats(kScales), by_block, "scales"), zeros,
       call.has(kBias) ? floats(kBias) : call.absent()},
      attrs);
  call.give(0, call.cast(y, call.dtype(a)));
}

}  // namespace

void register_matmul_nbits(FunctionRegistry& registry) {
  registry.add({kMicrosoft, "MatMulNBits", expand_matmul_nbits});
}

}  // namespace aoe::graph
