// The arithmetic of LSTM and GRU cells.
#include "compiler/rnn/rnn_cell.h"

#include "base/check.h"

namespace aoe::compiler {

namespace {

Vec keep(Builder& builder, const Vec& value) {
  return builder.get(builder.local(value));
}

}  // namespace

Vec emit_sigmoid(Builder& builder, const Vec& x) {
  return keep(builder, sigmoid(x));
}

Vec emit_activation(Builder& builder, const std::string& name, const Vec& x) {
  if (name == "sigmoid") return emit_sigmoid(builder, x);
  if (name == "relu") return keep(builder, max(x, splat(0.0f, x.lanes())));
  AOE_CHECK(name == "tanh", "activation " + name);
  return keep(builder, tanh(x));
}

LstmState emit_lstm_cell(Builder& builder, const std::vector<Vec>& sums, const Vec& cell,
                         const std::vector<Vec>& peepholes) {
  enum Gate : std::size_t { kInput, kOutput, kForget, kCandidate };
  const auto gate = [&](Gate g, const Vec& state) {
    return emit_sigmoid(builder, peepholes.empty() ? sums[g] : fma(peepholes[g], state, sums[g]));
  };
  const Vec input = gate(kInput, cell), forget = gate(kForget, cell);
  const Vec candidate = keep(builder, tanh(sums[kCandidate]));
  const Vec next = keep(builder, fma(forget, cell, input * candidate));
  const Vec output = gate(kOutput, next);
  return {keep(builder, output * tanh(next)), next};
}

Vec emit_gru_blend(Builder& builder, const Vec& update, const Vec& candidate, const Vec& hidden) {
  return keep(builder, fma(update, hidden - candidate, candidate));
}

}  // namespace aoe::compiler
