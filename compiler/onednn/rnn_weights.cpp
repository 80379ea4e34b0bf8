// Turns ONNX's gates into oneDNN's.
#include "compiler/onednn/rnn_weights.h"

#include <algorithm>
#include <vector>

namespace aoe::compiler {
namespace {

const float* values_of(const Task& task, std::size_t i) {
  return task.inputs[i].constant->view().as<float>();
}

/// By oneDNN's gate, ONNX's.
std::vector<std::int64_t> onednn_gates(RnnKind kind) {
  if (kind == RnnKind::kLstm) return {0, 2, 3, 1};
  if (kind == RnnKind::kVanilla) return {0};
  return {0, 1, 2};
}

}  // namespace

void pack_rnn_weights(const Task& task, const RnnShape& s, std::size_t i, std::int64_t direction,
                      std::int64_t columns, float* to) {
  const float* from = values_of(task, i) + direction * s.gate_count() * s.hidden * columns;
  for (std::int64_t column = 0; column < columns; ++column)
    for (const std::int64_t gate : onednn_gates(s.kind))
      for (std::int64_t unit = 0; unit < s.hidden; ++unit)
        *to++ = from[(gate * s.hidden + unit) * columns + column];
}

void pack_rnn_bias(const Task& task, const RnnShape& s, std::int64_t direction, float* to) {
  const std::int64_t size = s.gate_count() * s.hidden;
  const std::vector<std::int64_t> gates = onednn_gates(s.kind);
  const bool has_bias = has_values(task, kRnnBias);
  const float* from = has_bias ? values_of(task, kRnnBias) + direction * 2 * size : nullptr;
  const bool keeps_last_apart = s.kind == RnnKind::kLinearBeforeResetGru;
  const auto value = [&](std::int64_t at) { return has_bias ? from[at] : 0.0f; };
  for (const std::int64_t gate : gates) {
    const bool is_apart = keeps_last_apart && gate == gates.back();
    for (std::int64_t at = gate * s.hidden; at < (gate + 1) * s.hidden; ++at)
      *to++ = value(at) + (is_apart ? 0.0f : value(size + at));
  }
  if (!keeps_last_apart) return;
  for (std::int64_t at = size - s.hidden; at < size; ++at) *to++ = value(size + at);
}

void pack_rnn_peepholes(const Task& task, const RnnShape& s, std::int64_t direction, float* to) {
  const float* from = values_of(task, kRnnPeepholes) + direction * 3 * s.hidden;
  for (const std::int64_t gate : {0, 2, 1}) to = std::copy_n(from + gate * s.hidden, s.hidden, to);
}

}  // namespace aoe::compiler
