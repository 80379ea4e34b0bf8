// Convolution of floating point: which way a call goes (depthwise.h, pointwise.h, winograd_convolution.h, shifted_convolution.h,
// unfolded_convolution.h), and what is fused behind it.
// Generated code and libraries are faster at float32 where they take them: not where sizes are known when the model runs, nor volumes
// whose weights are computed.
#include <algorithm>
#include <cmath>

#include "native/channels_last.h"
#include "native/depthwise.h"
#include "native/kernel.h"
#include "native/padded_planes.h"
#include "native/pointwise.h"
#include "native/shifted_convolution.h"
#include "native/unfolded_convolution.h"
#include "native/winograd_convolution.h"
#include "reference/tensors/axes.h"
#include "reference/windows/window.h"

namespace aoe::native {
namespace {

template <typename T>
void run_real(const Run& run, const RowEnding& ending) {
  if (run.output(0).data == nullptr) return;
  const reference::Window window =
      reference::window_of(run.attrs, run.shape(0), reference::kernel_of(run.attrs, run.shape(1)));
  if (is_pointwise(run, window)) return run_pointwise<T>(run, ending);
  if constexpr (std::is_same_v<T, float>)
    if (runs_by_tiles(run, window)) return run_winograd_convolution(run, window, ending);
  if (reads_rows(run, window)) return run_over_rows<T>(run, window, ending);
  if (PaddedPlanes::takes(window) && !unfolding_pays(run, window))
    return run_shifted_convolution<T>(run, window, ending);
  run_unfolded_convolution<T>(run, window, ending);
}

constexpr const char* kChannelsLast = "NhwcConv2D";

void run_floats(const Run& run, const RowEnding& ending) {
  if (run.call.type == kChannelsLast) return run_channels_last(run, ending);
  if (run.inputs[0].desc.dtype == DataType::kDouble) return run_real<double>(run, ending);
  is_depthwise(run) ? run_depthwise(run, ending) : run_real<float>(run, ending);
}

Result<void> supports_floats(const Question& question) {
  if (question.call.attrs.get_int("input_shuffle", 1) != 1) return Unexpected("shuffled channels");
  return takes_one_float_type(question);
}

/// Of volumes, which a library computes plainly where its blocks of channels do not divide groups: blocks of eight output channels here.
double of_peak(const Question& question) {
  constexpr double kOfPeak = 0.45, kBlock = 8;
  constexpr std::size_t kVolumeRank = 5;
  const Shape& weight = question.inputs[1].shape;
  if (!is_float32(question) || weight.size() != kVolumeRank ||
      weight[2] * weight[3] * weight[4] == 1)
    return 0;
  const std::int64_t per_group = weight[0] / question.call.attrs.get_int("group", 1);
  const auto channels = static_cast<double>(per_group);
  return kOfPeak * channels / (std::ceil(channels / kBlock) * kBlock);
}

// ---- a convolution with its activation ----

/// What a convolution in a body reads and makes.
class AnchorRun final : public Run {
 public:
  AnchorRun(const Run& whole, const reference::BodyStep& anchor, std::span<const Tensor> given)
      : Run(anchor.call, given, whole.threads), whole_(whole), anchor_(anchor) {}
  const Tensor& output(std::size_t i) const override { return whole_.output(i); }
  Tensor make(std::size_t i, const Shape& shape) const override { return whole_.make(i, shape); }
  std::any* kept(std::size_t i) const override {
    const int value = i < anchor_.operands.size() ? anchor_.operands[i] : -1;
    return value < 0 ? nullptr : whole_.kept(static_cast<std::size_t>(value));
  }

 private:
  const Run& whole_;
  const reference::BodyStep& anchor_;
};

/// Of the inputs of a body those that a step reads.
template <typename T>
std::vector<T> read_by(const reference::BodyStep& step, std::span<const T> inputs) {
  std::vector<T> read;
  for (const int value : step.operands)
    read.push_back(
        value >= 0 && value < std::ssize(inputs) ? inputs[static_cast<std::size_t>(value)] : T{});
  return read;
}

/// A bound of ClipByValue: operand `i`, or an attribute of older versions.
float bound_of(const reference::BodyStep& clip, std::span<const Tensor> operands, std::size_t i,
               const std::string& attribute, float otherwise) {
  if (i < operands.size() && operands[i].is_present()) return *operands[i].as<float>();
  return clip.call.attrs.get_float(attribute, otherwise);
}

RowEnding ending_of(const reference::BodyStep& step, std::span<const Tensor> inputs) {
  RowEnding ending;
  if (step.call.type == "Relu") ending.low = 0;
  if (step.call.type == "LeakyRelu") ending.slope = step.call.attrs.get_float("alpha", 0.01f);
  if (step.call.type != "ClipByValue") return ending;
  const std::vector<Tensor> operands = read_by(step, inputs);
  ending.low = bound_of(step, operands, 1, "min", ending.low);
  ending.high = bound_of(step, operands, 2, "max", ending.high);
  return ending;
}

void run_with_activation(const Run& run) {
  const std::vector<reference::BodyStep>& steps = run.call.body->steps;
  const std::vector<Tensor> inputs = read_by(steps[0], run.inputs);
  run_floats(AnchorRun(run, steps[0], inputs), ending_of(steps[1], run.inputs));
}

Result<void> supports_activation(const Question& question) {
  static const reference::Body kNothing;
  const reference::Body& body = question.call.body ? *question.call.body : kNothing;
  const std::vector<reference::BodyStep>& steps = body.steps;
  constexpr std::string_view kActivations[] = {"Relu", "LeakyRelu", "ClipByValue"};
  if (std::ssize(question.inputs) != body.inputs || question.outputs != 1 || steps.size() != 2 ||
      (steps[0].call.type != "Conv2D" && steps[0].call.type != kChannelsLast) ||
      std::ranges::find(kActivations, steps[1].call.type) == std::end(kActivations) ||
      steps[1].operands.empty() || steps[1].operands[0] != body.value_of(0))
    return Unexpected("no convolution with Relu, LeakyRelu or Clip behind it");
  const std::vector<TensorDesc> inputs = read_by(steps[0], question.inputs);
  const Question anchor{steps[0].call, inputs, 1};
  if (!anchor.has_input(0) || !anchor.has_input(1)) return Unexpected("an input is missing");
  if (steps[0].call.type == kChannelsLast) return takes_channels_last(anchor);
  if (auto taken = supports_floats(anchor); !taken) return taken;
  return takes_types(anchor, 0, {DataType::kFloat});
}

/// Of a call that it supports.
bool may_save_products_of_anchor(const Question& question) {
  const reference::BodyStep& anchor = question.call.body->steps[0];
  const std::vector<TensorDesc> inputs = read_by(anchor, question.inputs);
  return may_run_by_tiles({anchor.call, inputs, 1});
}

double of_peak_of_anchor(const Question& question) {
  const reference::BodyStep& anchor = question.call.body->steps[0];
  const std::vector<TensorDesc> inputs = read_by(anchor, question.inputs);
  return of_peak({anchor.call, inputs, 1});
}

}  // namespace

void register_convolution(KernelRegistry& registry) {
  registry.add({.type = "Conv2D",
                .supports = supports_floats,
                .run = [](const Run& run) { run_floats(run, {}); },
                .may_save_products = may_run_by_tiles,
                .of_peak = of_peak,
                .is_for_open_sizes = is_flat_float32});
  registry.add({.type = kChannelsLast, .supports = takes_channels_last, .run = [](const Run& run) {
                  run_floats(run, {});
                }});
  registry.add({.type = reference::kFused,
                .supports = supports_activation,
                .run = run_with_activation,
                .may_save_products = may_save_products_of_anchor,
                .of_peak = of_peak_of_anchor,
                .is_for_open_sizes = is_flat_float32});
}

}  // namespace aoe::native
