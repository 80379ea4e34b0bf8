// Packs recurrent parameters into panels.
#include "compiler/rnn/rnn_constants.h"

#include <algorithm>
#include <memory>

#include "compiler/emit/broadcast_layout.h"
#include "compiler/gemm/gemm_nest.h"

namespace aoe::compiler {
namespace {

std::size_t float_bytes(std::int64_t count) {
  return sizeof(float) * static_cast<std::size_t>(count);
}

/// One panel: `units` hidden units from `first` on, of which the last ones may not exist.
float* pack_panel(const float* from, const RnnShape& s, const RnnPhase& phase, std::int64_t first,
                  std::int64_t units, float* to) {
  for (std::int64_t k = 0; k < s.hidden; ++k) {
    for (const std::int64_t gate : phase.gates) {
      for (std::int64_t unit = first; unit < first + units; ++unit)
        *to++ = unit < s.hidden ? from[(gate * s.hidden + unit) * s.hidden + k] : 0.0f;
    }
  }
  return to;
}

PackedConstant pack_recurrence(const Task& task, const RnnCut& cut) {
  const auto pack = [constant = task.inputs[kRnnRecurrence].constant, cut](void* destination) {
    const RnnShape& s = cut.shape();
    const float* from = constant->view().as<float>();
    auto* to = static_cast<float*>(destination);
    for (std::int64_t d = 0; d < s.directions; ++d, from += s.gate_count() * s.hidden * s.hidden) {
      for (const RnnPhase& phase : cut.phases()) {
        const std::int64_t width = phase.unit_vectors * cut.lanes();
        for (std::int64_t first = 0; first < s.hidden; first += width)
          to = pack_panel(from, s, phase, first, std::min(width, cut.padded_hidden() - first), to);
      }
    }
  };
  return {float_bytes(cut.shape().directions * cut.panel_elements()), pack};
}

/// Rows of `hidden` elements of input `i`, `row_count` of every direction from `first_row` on, filled up with zeros.
PackedConstant pack_rows(const Task& task, const RnnCut& cut, std::size_t i,
                         std::int64_t rows_per_direction, std::int64_t first_row,
                         std::int64_t row_count) {
  const std::int64_t directions = cut.shape().directions;
  const auto pack = [=, constant = task.inputs[i].constant, hidden = cut.shape().hidden,
                     padded = cut.padded_hidden()](void* destination) {
    const float* from = constant->view().as<float>();
    auto* to = static_cast<float*>(destination);
    for (std::int64_t d = 0; d < directions; ++d) {
      for (std::int64_t row = first_row; row < first_row + row_count; ++row, to += padded) {
        std::copy_n(from + (d * rows_per_direction + row) * hidden, hidden, to);
        std::fill(to + hidden, to + padded, 0.0f);
      }
    }
  };
  return {float_bytes(directions * row_count * cut.padded_hidden()), pack};
}

/// Both halves of ONNX's bias added up, but for the recurrent half of a candidate that the reset gate multiplies.
ConstantPtr input_bias(const Task& task, const RnnShape& s) {
  const std::int64_t gates = s.gate_count(), columns = gates * s.hidden;
  auto bias = std::make_shared<Constant>(TensorDesc{DataType::kFloat, {s.directions * columns}});
  const float* from = task.inputs[kRnnBias].constant->view().as<float>();
  auto* to = static_cast<float*>(bias->mutable_data());
  const std::int64_t added =
      s.kind == RnnKind::kLinearBeforeResetGru ? columns - s.hidden : columns;
  for (std::int64_t d = 0; d < s.directions; ++d, from += 2 * columns)
    for (std::int64_t at = 0; at < columns; ++at)
      *to++ = from[at] + (at < added ? from[columns + at] : 0.0f);
  return bias;
}

}  // namespace

RnnConstants pack_rnn_constants(const Task& task, const RnnCut& cut) {
  const RnnShape& s = cut.shape();
  RnnConstants constants;
  const auto add = [&](PackedConstant constant) {
    constants.all.push_back(std::move(constant));
    return constants.all.size() - 1;
  };
  const auto add_state = [&](std::size_t i) -> std::optional<std::size_t> {
    if (!has_values(task, i) || !task.inputs[i].constant) return {};
    return add(
        packed_in_format(task.inputs[i].constant, task.in(i).shape, Format::kND, cut.lanes()));
  };
  constants.recurrence = add(pack_recurrence(task, cut));
  if (s.kind == RnnKind::kLinearBeforeResetGru && has_values(task, kRnnBias)) {
    const std::int64_t rows = 2 * s.gate_count();  // of W, then of R; the candidate's is the last
    constants.candidate_bias = add(pack_rows(task, cut, kRnnBias, rows, rows - 1, 1));
  }
  if (s.has_cell_state() && has_values(task, kRnnPeepholes))
    constants.peepholes = add(pack_rows(task, cut, kRnnPeepholes, 3, 0, 3));
  constants.initial_hidden = add_state(kRnnInitialHidden);
  if (s.has_cell_state()) constants.initial_cell = add_state(kRnnInitialCell);
  return constants;
}

Task rnn_input_product(const Task& task, const RnnShape& s) {
  const std::int64_t rows = s.steps * s.batch, columns = s.directions * s.gate_count() * s.hidden;
  const auto matrix = [](std::int64_t m, std::int64_t n) {
    return TensorDesc{DataType::kFloat, {m, n}};
  };
  Task product;
  product.op.type = "Gemm";
  product.op.attrs.set("transB", std::int64_t{1});
  product.inputs = {{matrix(rows, s.input), nullptr},
                    {matrix(columns, s.input), task.inputs[kRnnWeights].constant}};
  if (has_values(task, kRnnBias)) {
    const ConstantPtr bias = input_bias(task, s);
    product.inputs.push_back({bias->desc(), bias});
  }
  product.outputs = {matrix(rows, columns)};
  return product;
}

}  // namespace aoe::compiler
