// RnnShape: an LSTM, GRU or RNN as plain numbers.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "compiler/impl.h"
#include "compiler/task.h"

namespace aoe::compiler {

/// The inputs of ONNX's recurrent operators; the last two are the LSTM's.
enum RnnInput : std::size_t {
  kRnnX,
  kRnnWeights,
  kRnnRecurrence,
  kRnnBias,
  kRnnLengths,
  kRnnInitialHidden,
  kRnnInitialCell,
  kRnnPeepholes
};

/// Their outputs; the last one is the LSTM's.
enum RnnOutput : std::size_t { kRnnY, kRnnLastHidden, kRnnLastCell };

/// What happens in one step. A GRU's reset gate acts on the hidden state, or on what the recurrence makes of it.
enum class RnnKind { kLstm, kGru, kLinearBeforeResetGru, kVanilla };

struct RnnShape {
  std::int64_t steps = 0, batch = 0, input = 0, hidden = 0, directions = 1;
  bool is_batch_first = false;  ///< ONNX's layout 1
  bool is_reverse = false;      ///< of one direction
  bool has_lengths = false;     ///< sequences end where an input of the run says
  RnnKind kind = RnnKind::kVanilla;
  std::string activation;  ///< of kVanilla: "tanh", "relu" or "sigmoid"

  std::int64_t gate_count() const;
  bool has_cell_state() const { return kind == RnnKind::kLstm; }
  /// Products of all steps with the input's weights, and with the recurrence, times two.
  double input_flops() const;
  double recurrent_flops() const;
};

/// Reads "DynamicRNN" (LSTM), "DynamicGRUV2" or "CommonRNN" with constant parameters, default activations (tanh, relu or
/// sigmoid for "CommonRNN") and sequences of full length, or of lengths that the run gives; the reason why not otherwise.
Result<RnnShape> rnn_shape(const Task& task);

/// Input `i` is there, and is not a constant of zeros.
bool has_values(const Task& task, std::size_t i);

/// Somebody reads the output.
bool is_wanted(const Task& task, RnnOutput output);

/// The dense Formats of all tensors that are there.
FormatChoice rnn_format(const Task& task);

}  // namespace aoe::compiler
