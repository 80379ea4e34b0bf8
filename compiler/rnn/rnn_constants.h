// The packed parameters of a recurrence, in the order of the kernel ABI.
#pragma once

#include <optional>
#include <vector>

#include "compiler/rnn/rnn_cut.h"

namespace aoe::compiler {

/// What the second stage reads, by index into `all`.
struct RnnConstants {
  std::vector<PackedConstant> all;
  std::size_t recurrence =
      0;  ///< [direction][phase][panel][hidden unit][gate of the phase][units of the panel]
  std::optional<std::size_t>
      candidate_bias;                    ///< [direction][padded units]: of kLinearBeforeResetGru
  std::optional<std::size_t> peepholes;  ///< [direction][input, output, forget][padded units]
  std::optional<std::size_t> initial_hidden, initial_cell;  ///< where constant, as ONNX has them
};

RnnConstants pack_rnn_constants(const Task& task, const RnnCut& cut);

/// X * W + bias for all steps and directions as a task for the Impls of matrix products: steps * batch x input by
/// input x directions * gates * hidden, every dimension in ONNX's order.
Task rnn_input_product(const Task& task, const RnnShape& shape);

}  // namespace aoe::compiler
