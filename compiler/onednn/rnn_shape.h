// RnnShape: an LSTM, GRU or RNN as plain numbers, and its parameters in oneDNN's order of gates.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
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

struct RnnShape {
  std::int64_t steps = 0, batch = 0, input = 0, hidden = 0, directions = 1;
  bool is_batch_first = false;      ///< ONNX's layout 1
  bool is_reverse = false;          ///< of one direction
  std::string primitive;            ///< oneDNN's: "lstm", "gru", "lbr_gru" or "vanilla_rnn"
  std::string activation;           ///< of "vanilla_rnn", in oneDNN's words
  std::vector<std::int64_t> gates;  ///< by oneDNN's gate, ONNX's
  bool has_cell_state = false;

  std::int64_t gate_count() const { return static_cast<std::int64_t>(gates.size()); }
  /// Products of all steps with the input's weights, and with the recurrence, times two.
  double input_flops() const;
  double recurrent_flops() const;
};

/// Reads "DynamicRNN" (LSTM), "DynamicGRUV2" or "CommonRNN" with constant parameters and sequences of full length; the
/// reason why oneDNN cannot do it otherwise.
Result<RnnShape> rnn_shape(const Task& task);

/// Input `i` is there, and is not a constant of zeros.
bool has_values(const Task& task, std::size_t i);

/// W or R (`i`) of one direction as oneDNN reads it: columns x gates x hidden, dense. `columns`: input or hidden.
void pack_rnn_weights(const Task& task, const RnnShape& shape, std::size_t i,
                      std::int64_t direction, std::int64_t columns, float* to);
/// Both halves of ONNX's bias added up; for "lbr_gru", which keeps the recurrent part of its last gate apart, one gate more.
void pack_rnn_bias(const Task& task, const RnnShape& shape, std::int64_t direction, float* to);
/// Input, forget, output; ONNX has them as input, output, forget.
void pack_rnn_peepholes(const Task& task, const RnnShape& shape, std::int64_t direction, float* to);

}  // namespace aoe::compiler
