// DynamicQuantizeLSTM of com.microsoft: an LSTM whose weights are bytes, transposed, with scales of each direction or
// each row. Its weights count as the numbers they stand for; the input, which ONNX Runtime rounds to bytes at each
// step, stays as it is.
#include "graph/import/quantized_terms.h"

namespace aoe::graph {
namespace {

namespace lstm_input {
enum Index : std::size_t {
  kX,
  kW,
  kR,
  kBias,
  kSequenceLengths,
  kH,
  kC,
  kPeepholes,
  kWScale,
  kWZero,
  kRScale,
  kRZero
};
}  // namespace lstm_input

/// Of each direction, or of each direction and row of the weights: (directions, 1, 1 or rows).
Term of_lstm_rows(FunctionCall& call, Term value) {
  return call.reshape(call.cast(value, DataType::kFloat),
                      {call.dim(value, 0), 1, call.rank(value) == 1 ? 1 : call.dim(value, 1)});
}

/// (directions, columns, rows) of bytes as ONNX's (directions, rows, columns) of float32.
Term lstm_weights(FunctionCall& call, std::size_t values, std::size_t scale, std::size_t zero) {
  Term w = call.cast(call.input(values), DataType::kFloat);
  if (call.has(zero)) w = w - of_lstm_rows(call, call.input(zero));
  return call.transpose(w * of_lstm_rows(call, call.input(scale)), {0, 2, 1});
}

void expand_dynamic_lstm(FunctionCall& call) {
  using namespace lstm_input;
  std::vector<Term> inputs = {call.input(kX), lstm_weights(call, kW, kWScale, kWZero),
                              lstm_weights(call, kR, kRScale, kRZero)};
  for (const std::size_t i : {std::size_t{kBias}, std::size_t{kSequenceLengths}, std::size_t{kH},
                              std::size_t{kC}, std::size_t{kPeepholes}})
    inputs.push_back(optional_input(call, i));
  const std::vector<Term> outputs = call.ops("LSTM", inputs, call.attrs(), 3);
  for (std::size_t i = 0; i < outputs.size(); ++i)
    if (call.wants(i)) call.give(i, outputs[i]);
}

}  // namespace

void register_dynamic_quantize_lstm(FunctionRegistry& registry) {
  registry.add({kMicrosoft, "DynamicQuantizeLSTM", expand_dynamic_lstm});
}

}  // namespace aoe::graph
