// Convolution of floating point: which way a call goes (depthwise.h, pointwise.h, winograd_convolution.h, shifted_convolution.h,
// unfolded_convolution.h), and what is fused behind it.
// Generated code and libraries are faster at float32 where they take them: not where sizes are known when the model runs, nor volumes
// whose weights are computed.
#include <algorithm>
#include <cmath>

#include "native/elements/curves.h"
#include "native/kernel.h"
#include "native/windows/anchor_run.h"
#include "native/windows/channels_last.h"
#include "native/windows/depthwise.h"
#include "native/windows/padded_planes.h"
#include "native/windows/pointwise.h"
#include "native/windows/shifted_convolution.h"
#include "native/windows/unfolded_convolution.h"
#include "native/windows/winograd_convolution.h"
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

/// One channel in for each group, and windows as high as the image: other code would turn images first, of which little is left.
bool sums_planes(const Question& question) {
  constexpr std::int64_t kHigh = 9;
  const Shape &x = question.inputs[0].shape, &weight = question.inputs[1].shape;
  if (question.call.type != "Conv2D" || !is_flat_float32(question) || !is_static(x) ||
      !is_static(weight) || weight[1] != 1)
    return false;
  const reference::WindowAxis height =
      reference::window_of(question.call.attrs, x,
                           reference::kernel_of(question.call.attrs, weight))
          .height();
  return height.output == 1 && height.kernel >= kHigh;
}

/// Of a few channels, which fill a part of a vector where generated code has these in lanes: the processor's share that whole rows of
/// them reach here, 0 where there are more or windows of one element.
double of_peak_of_few(const Question& question) {
  constexpr std::int64_t kMost = 8, kLeastWidth = 16;
  constexpr double kOfPeak[kMost + 1] = {0, 0.25, 0.3, 0.45, 0.45, 0.6, 0.6, 0.6, 0.6};
  const Shape &x = question.inputs[0].shape, &weight = question.inputs[1].shape;
  const reference::Attrs& attrs = question.call.attrs;
  if (question.call.type != "Conv2D" || !is_flat_float32(question) || !is_static(x) ||
      !is_static(weight) || attrs.get_int("group", 1) != 1 || weight[0] < 1 || weight[0] > kMost)
    return 0;
  const reference::Window window =
      reference::window_of(attrs, x, reference::kernel_of(attrs, weight));
  if (window.kernel_elements() == 1 || window.width().output < kLeastWidth ||
      window.width().stride != 1 || !PaddedPlanes::takes(window))
    return 0;
  return kOfPeak[weight[0]];
}

/// Of volumes, which a library computes plainly where its blocks of channels do not divide groups: blocks of eight output channels here.
double of_peak(const Question& question) {
  constexpr double kOfPeak = 0.45, kBlock = 8;
  constexpr std::size_t kVolumeRank = 5;
  if (sums_planes(question)) return kOfPeak / 2;
  if (const double share = of_peak_of_few(question); share > 0) return share;
  const Shape& weight = question.inputs[1].shape;
  if (!is_float32(question) || weight.size() != kVolumeRank ||
      weight[2] * weight[3] * weight[4] == 1)
    return 0;
  const std::int64_t per_group = weight[0] / question.call.attrs.get_int("group", 1);
  const auto channels = static_cast<double>(per_group);
  return kOfPeak * channels / (std::ceil(channels / kBlock) * kBlock);
}

bool is_for_open_images(const Question& question) {
  return is_flat_float32(question) && !sums_planes(question) && of_peak_of_few(question) == 0;
}

// ---- a convolution with its activation ----

RowEnding ending_of(const reference::BodyStep& step, std::span<const Tensor> inputs) {
  const Bounds bounds = bounds_of(step, inputs);
  RowEnding ending;
  ending.low = bounds.low, ending.high = bounds.high;
  if (step.call.type == "LeakyRelu") ending.slope = step.call.attrs.get_float("alpha", 0.01f);
  return ending;
}

/// Sums times their sigmoids.
bool has_sigmoid(const reference::Body& body) {
  if (body.steps.size() != 3 || body.steps[1].call.type != "Sigmoid" ||
      body.steps[2].call.type != "Mul")
    return false;
  const std::vector<int> sum = {body.value_of(0)}, both = {body.value_of(0), body.value_of(1)};
  return body.steps[1].operands == sum && std::ranges::is_permutation(body.steps[2].operands, both);
}

/// Behind an anchor with channels last.
RowEnding::Curve curve_of(const reference::Body& body) {
  using Curve = RowEnding::Curve;
  if (body.steps.empty() || body.steps[0].call.type != kChannelsLast) return Curve::kNone;
  if (has_sigmoid(body)) return Curve::kSigmoidTimes;
  const bool is_hard = body.steps.size() == 2 && body.steps[1].call.type == "HardSwish" &&
                       body.steps[1].operands == std::vector{body.value_of(0)};
  return is_hard ? Curve::kHardSwish : Curve::kNone;
}

RowEnding ending_of(const reference::Body& body, std::span<const Tensor> inputs) {
  const RowEnding::Curve curve = curve_of(body);
  if (curve == RowEnding::Curve::kNone) return ending_of(body.steps[1], inputs);
  RowEnding ending;
  ending.curve = curve;
  return ending;
}

bool is_curve(const std::string& type) {
  return type == "Tanh" || type == "Sigmoid";
}

/// Of what a convolution has made.
void bend(const std::string& type, const Tensor& y, Threads& threads) {
  constexpr double kElementNs = 1;
  const auto write = type == "Tanh" ? write_tanhs : write_sigmoids;
  threads.share(y.elements(), kElementNs, [&](std::int64_t begin, std::int64_t end) {
    write(y.as<float>() + begin, end - begin);
  });
}

void run_with_activation(const Run& run) {
  const reference::Body& body = *run.call.body;
  const std::vector<Tensor> inputs = read_by(body.steps[0], run.inputs);
  const AnchorRun anchor(run, body.steps[0], inputs);
  if (!is_curve(body.steps[1].call.type) || curve_of(body) != RowEnding::Curve::kNone)
    return run_floats(anchor, ending_of(body, run.inputs));
  if (run.output(0).data == nullptr) return;
  run_floats(anchor, {});
  bend(body.steps[1].call.type, run.output(0), run.threads);
}

/// What becomes an ending of its sums.
bool is_activation(const reference::BodyStep& step) {
  constexpr std::string_view kActivations[] = {"Relu", "LeakyRelu", "ClipByValue"};
  return std::ranges::find(kActivations, step.call.type) != std::end(kActivations);
}

Result<void> supports_activation(const Question& question) {
  if (question.call.body == nullptr || question.outputs != 1 ||
      std::ssize(question.inputs) != question.call.body->inputs)
    return Unexpected("no fused call of one output");
  const std::vector<reference::BodyStep>& steps = question.call.body->steps;
  const bool has_one = is_chain(question) && steps.size() == 2 &&
                       (is_activation(steps[1]) || is_curve(steps[1].call.type));
  if (!has_one && curve_of(*question.call.body) == RowEnding::Curve::kNone)
    return Unexpected("no convolution with an activation behind it");
  if (steps[0].call.type != "Conv2D" && steps[0].call.type != kChannelsLast)
    return Unexpected("no convolution with Relu, LeakyRelu or Clip behind it");
  const std::vector<TensorDesc> inputs = read_by(steps[0], question.inputs);
  const Question anchor{steps[0].call, inputs, 1};
  if (!anchor.has_input(0) || !anchor.has_input(1)) return Unexpected("an input is missing");
  if (has_one && is_curve(steps[1].call.type) && of_peak_of_few(anchor) == 0)
    return Unexpected("more than a few channels");
  if (steps[0].call.type == kChannelsLast) return takes_channels_last(anchor);
  if (auto taken = supports_floats(anchor); !taken) return taken;
  return takes_types(anchor, 0, {DataType::kFloat});
}

// ---- or a chain of bytes ----

bool is_of_bytes(const reference::Body& body) {
  const std::string& type = body.steps[0].call.type;
  return type == "QuantConv2D" || type == "NhwcQuantConv2D";
}

bool has_bytes(const Question& question) {
  return is_chain(question) && is_of_bytes(*question.call.body);
}

Result<void> supports_fused(const Question& question) {
  return has_bytes(question) ? supports_byte_chain(question) : supports_activation(question);
}

void run_fused(const Run& run) {
  is_of_bytes(*run.call.body) ? run_byte_chain(run) : run_with_activation(run);
}

/// Of a call that it supports.
bool may_save_products_of_anchor(const Question& question) {
  if (has_bytes(question)) return false;
  const reference::BodyStep& anchor = question.call.body->steps[0];
  const std::vector<TensorDesc> inputs = read_by(anchor, question.inputs);
  return may_run_by_tiles({anchor.call, inputs, 1});
}

double of_peak_of_anchor(const Question& question) {
  if (has_bytes(question)) return 0;
  const reference::BodyStep& anchor = question.call.body->steps[0];
  const std::vector<TensorDesc> inputs = read_by(anchor, question.inputs);
  return of_peak({anchor.call, inputs, 1});
}

bool is_fused_for_open_sizes(const Question& question) {
  if (has_bytes(question)) return true;
  const reference::BodyStep& anchor = question.call.body->steps[0];
  const std::vector<TensorDesc> inputs = read_by(anchor, question.inputs);
  return is_for_open_images({anchor.call, inputs, 1});
}

}  // namespace

void register_convolution(KernelRegistry& registry) {
  registry.add({.type = "Conv2D",
                .supports = supports_floats,
                .run = [](const Run& run) { run_floats(run, {}); },
                .may_save_products = may_run_by_tiles,
                .of_peak = of_peak,
                .is_for_open_sizes = is_for_open_images});
  registry.add({.type = kChannelsLast,
                .supports = takes_channels_last,
                .run = [](const Run& run) { run_floats(run, {}); },
                .may_save_products = may_run_by_tiles});
  registry.add({.type = reference::kFused,
                .supports = supports_fused,
                .run = run_fused,
                .may_save_products = may_save_products_of_anchor,
                .of_peak = of_peak_of_anchor,
                .is_for_open_sizes = is_fused_for_open_sizes});
}

}  // namespace aoe::native
