// Products of bytes that give float32: MatMulIntegerToFloat, and DynamicQuantizeMatMul, which makes the bytes itself.
#include "graph/function_call.h"

namespace aoe::graph {
namespace {

struct Bytes {
  Term values, scale, zero;  ///< zero: absent() is 0
};

void give_product(FunctionCall& call, const Bytes& a, const Bytes& b, std::size_t bias) {
  std::vector<Term> inputs = {a.values, b.values, a.zero, b.zero};
  const Term sums = call.op("MatMulInteger", inputs);
  Term y = call.cast(sums, call.dtype(b.scale)) * (a.scale * b.scale);
  if (call.has(bias)) y = y + call.input(bias);
  call.give(0, y);
}

Term optional(FunctionCall& call, std::size_t i) {
  return call.has(i) ? call.input(i) : call.absent();
}

void expand_integer_to_float(FunctionCall& call) {
  give_product(call, {call.input(0), call.input(2), optional(call, 4)},
               {call.input(1), call.input(3), optional(call, 5)}, 6);
}

void expand_dynamic(FunctionCall& call) {
  const std::vector<Term> a = call.ops("DynamicQuantizeLinear", {call.input(0)}, {}, 3);
  give_product(call, {a[0], a[1], a[2]}, {call.input(1), call.input(2), optional(call, 3)}, 4);
}

}  // namespace

void register_quantized_matmul(FunctionRegistry& registry) {
  registry.add({kMicrosoft, "MatMulIntegerToFloat", expand_integer_to_float});
  registry.add({kMicrosoft, "DynamicQuantizeMatMul", expand_dynamic});
}

}  // namespace aoe::graph
