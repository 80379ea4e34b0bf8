// Products of bytes that give float32: MatMulIntegerToFloat, and DynamicQuantizeMatMul, which makes the bytes itself. And
// MatMulInteger16, of 16 bits, which gives 32.
#include "graph/import/quantized_terms.h"
#include "reference/fail.h"

namespace aoe::graph {
namespace {

void give_product(FunctionCall& call, const ByteTerm& a, const ByteTerm& b, std::size_t bias) {
  const Term y = product(call, a, b);
  call.give(0, call.has(bias) ? y + call.input(bias) : y);
}

void expand_integer_to_float(FunctionCall& call) {
  give_product(call, {call.input(0), call.input(2), optional_input(call, 4)},
               {call.input(1), call.input(3), optional_input(call, 5)}, 6);
}

void expand_dynamic(FunctionCall& call) {
  const std::vector<Term> a = call.ops("DynamicQuantizeLinear", {call.input(0)}, {}, 3);
  give_product(call, {a[0], a[1], a[2]}, {call.input(1), call.input(2), optional_input(call, 3)},
               4);
}

void expand_integer16(FunctionCall& call) {
  const Term a = call.input(0), b = call.input(1);
  for (const Term factor : {a, b})
    if (call.dtype(factor) != DataType::kInt16 && call.dtype(factor) != DataType::kUint16)
      reference::fail_model("its factors are not of 16 bits");
  const bool is_unsigned = call.dtype(a) == DataType::kUint16 && call.dtype(b) == DataType::kUint16;
  const DataType wide = is_unsigned ? DataType::kUint32 : DataType::kInt32;
  call.give(0, call.matmul(call.cast(a, wide), call.cast(b, wide)));
}

}  // namespace

void register_quantized_matmul(FunctionRegistry& registry) {
  registry.add({kMicrosoft, "MatMulIntegerToFloat", expand_integer_to_float});
  registry.add({kMicrosoft, "DynamicQuantizeMatMul", expand_dynamic});
  registry.add({kMicrosoft, "MatMulInteger16", expand_integer16});
}

}  // namespace aoe::graph
