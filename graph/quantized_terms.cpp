#include "graph/quantized_terms.h"

namespace aoe::graph {
namespace {

/// A list of one element as the number it is: operators of ONNX take a list for one element of each index of an axis.
Term number_of(FunctionCall& call, Term value) {
  if (value.id == kNone) return value;
  const Shape& shape = call.shape(value);
  return shape == Shape{1} ? call.reshape(value, {}) : value;
}

}  // namespace

Term optional_input(FunctionCall& call, std::size_t i) {
  return call.has(i) ? call.input(i) : call.absent();
}

Term real(FunctionCall& call, const ByteTerm& bytes, std::int64_t axis) {
  std::vector<Term> inputs = {bytes.values, number_of(call, bytes.scale)};
  if (bytes.zero.id != kNone) inputs.push_back(number_of(call, bytes.zero));
  return call.op("DequantizeLinear", inputs, with_axis(axis));
}

Term quantised(FunctionCall& call, Term value, Term scale, Term zero, DataType dtype) {
  return call.op("QuantizeLinear", {value, scale, zero.id != kNone ? zero : call.number(0, dtype)});
}

Term product(FunctionCall& call, const ByteTerm& a, const ByteTerm& b) {
  const Term sums = call.op("MatMulInteger", {a.values, b.values, a.zero, b.zero});
  return call.cast(sums, call.dtype(b.scale)) * (a.scale * b.scale);
}

}  // namespace aoe::graph
