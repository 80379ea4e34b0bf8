// A recurrent operator's parameters in oneDNN's order of gates.
#pragma once

#include "compiler/rnn/rnn_shape.h"

namespace aoe::compiler {

/// W or R (`i`) of one direction as oneDNN reads it: columns x gates x hidden, dense. `columns`: input or hidden.
void pack_rnn_weights(const Task& task, const RnnShape& shape, std::size_t i,
                      std::int64_t direction, std::int64_t columns, float* to);
/// Both halves of ONNX's bias added up; for "lbr_gru", which keeps the recurrent part of its last gate apart, one gate more.
void pack_rnn_bias(const Task& task, const RnnShape& shape, std::int64_t direction, float* to);
/// Input, forget, output; ONNX has them as input, output, forget.
void pack_rnn_peepholes(const Task& task, const RnnShape& shape, std::int64_t direction, float* to);

}  // namespace aoe::compiler
