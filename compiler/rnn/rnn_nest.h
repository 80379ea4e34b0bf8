// The loop nest of LSTM, GRU and RNN: the products of all inputs with W into the workspace; then a walk through time, side by
// side for directions and parts of the batch. A step multiplies the hidden state with packed panels of R whose lanes are hidden
// units and which hold all gates of a unit, so that the sums become the next state in registers. Where one sequence is all
// there is, threads share the units of each step instead, and meet behind it.
#pragma once

#include "compiler/gemm/gemm_nest.h"
#include "compiler/rnn/rnn_cut.h"

namespace aoe::compiler {

/// `product` is how the first stage is cut up, a cut of rnn_input_product().
Kernel build_rnn(const Task& task, const RnnCut& cut, const GemmCut& product);

}  // namespace aoe::compiler
