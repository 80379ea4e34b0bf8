// What one step makes of the gates' sums, for a vector of hidden units.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "compiler/loopnest/loopnest.h"

namespace aoe::compiler {

loopnest::Vec emit_sigmoid(loopnest::Builder& builder, const loopnest::Vec& x);

/// "tanh", "relu" or "sigmoid".
loopnest::Vec emit_activation(loopnest::Builder& builder, const std::string& name,
                              const loopnest::Vec& x);

struct LstmState {
  loopnest::Vec hidden, cell;
};
/// `sums` of the gates input, output, forget, candidate; `peepholes` of the first three, or none.
LstmState emit_lstm_cell(loopnest::Builder& builder, const std::vector<loopnest::Vec>& sums,
                         const loopnest::Vec& cell, const std::vector<loopnest::Vec>& peepholes);

/// The GRU's next hidden state: (1 - update) * candidate + update * hidden.
loopnest::Vec emit_gru_blend(loopnest::Builder& builder, const loopnest::Vec& update,
                             const loopnest::Vec& candidate, const loopnest::Vec& hidden);

}  // namespace aoe::compiler
