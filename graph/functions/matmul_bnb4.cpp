// MatMulBnb4 of com.microsoft: a product with weights of four bits as bitsandbytes writes them, which stand for the
// sixteen numbers of a table, times the largest of their block. They become float32 when the model is compiled.
#include <array>

#include "base/ceil_div.h"
#include "graph/import/function_call.h"
#include "reference/fail.h"

namespace aoe::graph {
namespace {

/// Of quant_type 0 and 1: four-bit floating point, and quantiles of a normal distribution.
constexpr std::array<std::array<float, 16>, 2> kNumbers = {
    {{0.0F, 5.208333333e-03F, 0.66666667F, 1.0F, 0.33333333F, 0.5F, 0.16666667F, 0.25F, -0.0F,
      -5.208333333e-03F, -0.66666667F, -1.0F, -0.33333333F, -0.5F, -0.16666667F, -0.25F},
     {-1.0F, -0.6961928009986877F, -0.5250730514526367F, -0.39491748809814453F,
      -0.28444138169288635F, -0.18477343022823334F, -0.09105003625154495F, 0.0F,
      0.07958029955625534F, 0.16093020141124725F, 0.24611230194568634F, 0.33791524171829224F,
      0.44070982933044434F, 0.5626170039176941F, 0.7229568362236023F, 1.0F}}};

/// Two codes of each byte, the higher one first: (codes).
Term codes_of(FunctionCall& call, Term bytes) {
  const auto byte = [&](double value) { return call.number(value, DataType::kUint8); };
  reference::Attrs right;
  right.set("direction", std::string("RIGHT"));
  const Term both = call.reshape(bytes, {-1, 1});
  return call.reshape(call.concat({call.op("BitShift", {both, byte(4)}, right),
                                   call.op("BitwiseAnd", {both, byte(15)})},
                                  1),
                      {-1});
}

void expand_matmul_bnb4(FunctionCall& call) {
  const Term a = call.input(0);
  const std::int64_t n = call.count_attr("N"), k = call.count_attr("K"),
                     block = call.count_attr("block_size"),
                     type = call.attrs().get_int("quant_type", -1);
  if (type != 0 && type != 1)
    reference::fail_model("its quant_type is " + std::to_string(type) + ", needs 0 or 1");
  if (call.attrs().get_int("transB", 1) == 0) throw NotExpressible{"its weights lie transposed"};
  if (call.dim(a, -1) != k)
    reference::fail_model("its input has rows of " + std::to_string(call.dim(a, -1)) +
                          " elements, K is " + std::to_string(k));
  const std::int64_t count = n * k, blocks = ceil_div(count, block);
  const Term bytes = call.reshape(call.input(1), {-1}), scales = call.reshape(call.input(2), {-1});
  if (call.dtype(bytes) != DataType::kUint8 || call.dim(bytes, 0) != (count + 1) / 2 ||
      call.dim(scales, 0) != blocks)
    reference::fail_model("its weights and their scales are " + to_string(call.shape(bytes)) +
                          " and " + to_string(call.shape(scales)) + ", N, K and block_size need " +
                          std::to_string((count + 1) / 2) + " and " + std::to_string(blocks));
  const auto& numbers = kNumbers[static_cast<std::size_t>(type)];
  const Term table = call.floats({16}, {numbers.begin(), numbers.end()});
  Term values = call.op("Gather", {table, call.cast(codes_of(call, bytes), DataType::kInt32)});
  const std::int64_t missing = blocks * block - call.dim(values, 0);
  if (missing > 0) values = call.op("Pad", {values, call.ints({0, missing})});
  if (missing < 0) values = call.slice(values, 0, 0, blocks * block);
  const Term scaled = call.reshape(values, {blocks, block}) *
                      call.reshape(call.cast(scales, DataType::kFloat), {blocks, 1});
  const Term weights = call.reshape(call.slice(call.reshape(scaled, {-1}), 0, 0, count), {n, k});
  const Term y = call.matmul(call.cast(a, DataType::kFloat), call.transpose(weights, {1, 0}));
  call.give(0, call.cast(y, call.dtype(a)));
}

}  // namespace

void register_matmul_bnb4(FunctionRegistry& registry) {
  registry.add({kMicrosoft, "MatMulBnb4", expand_matmul_bnb4});
}

}  // namespace aoe::graph
