#include "graph/import/quantized_terms.h"

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

Term unpacked(FunctionCall& call, Term bytes, std::int64_t bits, std::int64_t count) {
  if (bits == 8) return bytes;
  const auto byte = [&](std::int64_t value) {
    return call.number(static_cast<double>(value), DataType::kUint8);
  };
  reference::Attrs right;
  right.set("direction", "RIGHT");
  std::vector<Term> values;
  for (std::int64_t shift = 0; shift < 8; shift += bits) {
    const Term low = shift == 0 ? bytes : call.op("BitShift", {bytes, byte(shift)}, right);
    const Term value = call.op("BitwiseAnd", {low, byte((1 << bits) - 1)});
    values.push_back(call.op("Unsqueeze", {value, call.ints({-1})}));
  }
  std::vector<std::int64_t> rows(static_cast<std::size_t>(call.rank(bytes)), 0);
  rows.back() = -1;
  const Term row = call.reshape(call.concat(values, -1), rows);
  return call.slice(row, -1, 0, count);
}

}  // namespace aoe::graph
