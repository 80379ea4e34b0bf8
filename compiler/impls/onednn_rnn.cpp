// onednn_rnn: oneDNN's LSTM, GRU and RNN primitives. Each direction is a primitive of its own, which writes its part of
// ONNX's steps x directions x batch x hidden in place, by strides.
#include <algorithm>
#include <cstring>

#include "compiler/onednn/onednn_params.h"
#include "compiler/onednn/rnn_weights.h"
#include "compiler/roofline.h"

namespace aoe::compiler {
namespace {

using nlohmann::json;

const char* primitive_name(RnnKind kind) {
  switch (kind) {
    case RnnKind::kLstm:
      return "lstm";
    case RnnKind::kGru:
      return "gru";
    case RnnKind::kLinearBeforeResetGru:
      return "lbr_gru";
    case RnnKind::kVanilla:
      return "vanilla_rnn";
  }
  return "";
}

std::string algorithm_name(const std::string& activation) {
  return activation == "sigmoid" ? "eltwise_logistic" : "eltwise_" + activation;
}

std::size_t float_bytes(std::int64_t count) {
  return sizeof(float) * static_cast<std::size_t>(count);
}

/// The primitive of one direction.
class Direction {
 public:
  Direction(OneDnnDraft& draft, const Task& task, const RnnShape& shape, std::int64_t index)
      : draft_(draft), task_(task), s_(shape), index_(index) {}

  void write() {
    const bool runs_back = s_.is_reverse || index_ == 1;
    draft_.params()["direction"] = runs_back ? "reverse" : "forward";
    if (s_.kind == RnnKind::kVanilla) draft_.params()["algorithm"] = algorithm_name(s_.activation);
    draft_.input("src", kRnnX, layer_desc(s_.input, 1));
    write_weights("weights", kRnnWeights, s_.input);
    write_weights("weights_iter", kRnnRecurrence, s_.hidden);
    write_bias();
    if (s_.has_cell_state() && has_values(task_, kRnnPeepholes)) write_peepholes();
    write_initial_states();
    write_outputs();
  }

 private:
  /// steps x batch x width, of `neighbours` such tensors side by side as ONNX stores them.
  json layer_desc(std::int64_t width, std::int64_t neighbours) const {
    const std::int64_t row = neighbours * width;
    const Shape strides =
        s_.is_batch_first ? Shape{row, s_.steps * row, 1} : Shape{s_.batch * row, width, 1};
    return onednn_strided({s_.steps, s_.batch, width}, strides);
  }

  /// A state has oneDNN's axes for layers and directions, of one each.
  json state_desc() const {
    const std::int64_t row = s_.is_batch_first ? s_.directions * s_.hidden : s_.hidden;
    return onednn_strided({1, 1, s_.batch, s_.hidden}, {s_.batch * row, s_.batch * row, row, 1});
  }

  std::size_t offset_bytes() const {
    return float_bytes(index_ * s_.hidden * (s_.is_batch_first ? 1 : s_.batch));
  }

  void write_weights(const std::string& argument, std::size_t i, std::int64_t columns) {
    const Shape dims = {1, 1, columns, s_.gate_count(), s_.hidden};
    const auto pack = [task = task_, s = s_, i, index = index_, columns](void* to) {
      pack_rnn_weights(task, s, i, index, columns, static_cast<float*>(to));
    };
    draft_.weights(argument, dims, onednn_dense(dims), {float_bytes(element_count(dims)), pack});
  }

  void write_bias() {
    const std::int64_t gates =
        s_.gate_count() + (s_.kind == RnnKind::kLinearBeforeResetGru ? 1 : 0);
    const auto pack = [task = task_, s = s_, index = index_](void* to) {
      pack_rnn_bias(task, s, index, static_cast<float*>(to));
    };
    draft_.params()["bias"] = onednn_dense({1, 1, gates, s_.hidden});
    draft_.constant("bias", {float_bytes(gates * s_.hidden), pack});
  }

  void write_peepholes() {
    const auto pack = [task = task_, s = s_, index = index_](void* to) {
      pack_rnn_peepholes(task, s, index, static_cast<float*>(to));
    };
    draft_.params()["weights_peephole"] = onednn_dense({1, 1, 3, s_.hidden});
    draft_.constant("weights_peephole", {float_bytes(3 * s_.hidden), pack});
  }

  /// An LSTM takes both of its states or none.
  void write_initial_states() {
    const bool has_cell = s_.has_cell_state() && has_values(task_, kRnnInitialCell);
    if (!has_values(task_, kRnnInitialHidden) && !has_cell) return;
    write_initial_state("src_iter", kRnnInitialHidden);
    if (s_.has_cell_state()) write_initial_state("src_iter_c", kRnnInitialCell);
  }

  void write_initial_state(const std::string& argument, std::size_t i) {
    const bool is_given = has_values(task_, i);
    if (is_given && !task_.inputs[i].constant)
      return draft_.input(argument, i, state_desc(), offset_bytes());
    const ConstantPtr values = is_given ? task_.inputs[i].constant : nullptr;
    const std::int64_t row = s_.is_batch_first ? s_.directions * s_.hidden : s_.hidden;
    const auto pack = [values, s = s_, row, offset = offset_bytes()](void* to) {
      const std::size_t width = float_bytes(s.hidden);
      for (std::int64_t b = 0; b < s.batch; ++b) {
        auto* at = static_cast<char*>(to) + static_cast<std::size_t>(b) * width;
        if (values == nullptr) {
          std::memset(at, 0, width);
        } else {
          std::memcpy(at, values->view().as<char>() + offset + float_bytes(b * row), width);
        }
      }
    };
    draft_.params()[argument] = onednn_dense({1, 1, s_.batch, s_.hidden});
    draft_.constant(argument, {float_bytes(s_.batch * s_.hidden), pack});
  }

  void write_outputs() {
    if (is_wanted(task_, kRnnY)) {
      draft_.output("dst", kRnnY, layer_desc(s_.hidden, s_.directions), offset_bytes());
    } else {
      draft_.temporary("dst", onednn_dense({s_.steps, s_.batch, s_.hidden}));
    }
    const bool wants_cell = s_.has_cell_state() && is_wanted(task_, kRnnLastCell);
    if (!is_wanted(task_, kRnnLastHidden) && !wants_cell) return;
    write_last_state("dst_iter", kRnnLastHidden);
    if (s_.has_cell_state()) write_last_state("dst_iter_c", kRnnLastCell);
  }

  void write_last_state(const std::string& argument, RnnOutput o) {
    if (is_wanted(task_, o)) {
      draft_.output(argument, o, state_desc(), offset_bytes());
    } else {
      draft_.temporary(argument, onednn_dense({1, 1, s_.batch, s_.hidden}));
    }
  }

  OneDnnDraft& draft_;
  const Task& task_;
  const RnnShape& s_;
  std::int64_t index_;
};

OneDnnDraft make_draft(const Task& task, const RnnShape& shape, const Soc& soc) {
  OneDnnDraft draft(task, rnn_format(task), soc, primitive_name(shape.kind));
  for (std::int64_t i = 0; i < shape.directions; ++i) {
    if (i > 0) draft.also(primitive_name(shape.kind));
    Direction(draft, task, shape, i).write();
  }
  return draft;
}

class OneDnnRnnPlan final : public Plan {
 public:
  OneDnnRnnPlan(const Task& task, const FormatChoice& format, const Soc& soc)
      : Plan(task, format, soc), shape_(rnn_shape(task).value()) {}

  Features features(const Schedule&) const override {
    return {{"flops", flops(task())},
            {"bytes", bytes_moved(task())},
            {"steps", static_cast<double>(shape_.steps)},
            {"batch", static_cast<double>(shape_.batch)},
            {"hidden", static_cast<double>(shape_.hidden)}};
  }

  /// Each step waits for the one before, multiplies its input anew, and reads all weights again. On a Zen 5 core 256 hidden
  /// units took 14 us a step for one row of the batch, 1024 took 640 us; 32 rows ran at 0.88 of the peak.
  double estimate_ns(const Schedule&) const override {
    constexpr double kEfficiency = 0.85, kEfficiencyPerRow = 0.2, kStepNs = 1000;
    const double efficiency =
        std::min(kEfficiency, kEfficiencyPerRow * static_cast<double>(shape_.batch));
    const double step_count = static_cast<double>(shape_.steps * shape_.directions);
    const double step_bytes = sizeof(float) * static_cast<double>(shape_.gate_count()) *
                              static_cast<double>(shape_.hidden * (shape_.hidden + shape_.input));
    const double step_ns =
        std::max(compute_ns(soc(), (shape_.input_flops() + shape_.recurrent_flops()) / step_count,
                            efficiency),
                 memory_ns(soc(), step_bytes));
    return step_count * (kStepNs + launch_ns(soc()) + step_ns);
  }

  Kernel build(const Schedule&) const override {
    return make_draft(task(), shape_, soc()).finish();
  }

 private:
  RnnShape shape_;
};

class OneDnnRnn final : public ImplBy<OneDnnRnnPlan> {
 public:
  std::string_view name() const override { return "onednn_rnn"; }
  NotFinite not_finite(const Task&) const override { return NotFinite::kOpen; }

  Result<void> supports(const Task& task, const Soc& soc) const override {
    const Result<RnnShape> shape = rnn_shape(task);
    if (!shape) return Unexpected(shape.error());
    if (shape->has_lengths) return Unexpected("sequence_lens is not constant");
    if (Result<void> general = supports_onednn(task, soc, 3); !general) return general;
    const auto choices = make_draft(task, *shape, soc).probe();
    return choices ? Result<void>() : Unexpected(choices.error());
  }

  std::vector<FormatChoice> formats(const Task& task, const Soc&) const override {
    return {rnn_format(task)};
  }
};

}  // namespace

void register_onednn_rnn(ImplRegistry& registry) {
  registry.add(std::make_unique<OneDnnRnn>());
}

}  // namespace aoe::compiler
