// Convolution of floating point. Most have a way of their own (depthwise.h, pointwise.h, winograd_convolution.h, shifted_convolution.h),
// with what is fused behind them; of the others what the taps of a block of output places read becomes the columns of a product.
// Generated code and libraries are faster at float32 where they take them: not where sizes are known when the model runs, nor volumes
// whose weights are computed.
#include <algorithm>
#include <cmath>

#include "native/depthwise.h"
#include "native/kernel.h"
#include "native/padded_planes.h"
#include "native/pointwise.h"
#include "native/product.h"
#include "native/shifted_convolution.h"
#include "native/winograd_convolution.h"
#include "reference/axes.h"
#include "reference/window.h"

namespace aoe::native {
namespace {

constexpr std::int64_t kColumns = 64;

/// An output place, or a tap: its number along each axis.
struct Place {
  std::int64_t d, h, w;
};

Place place_in(std::int64_t i, std::int64_t height, std::int64_t width) {
  return {i / width / height, i / width % height, i % width};
}

/// A tap, and the columns of outputs [inside, beyond) whose tap lies in the input.
struct Tap {
  Place place;
  std::int64_t inside, beyond;
};

std::vector<Tap> taps_of(const reference::Window& window) {
  const auto& [d, h, w] = window.axes;
  std::vector<Tap> taps;
  for (std::int64_t k = 0; k < window.kernel_elements(); ++k) {
    const Place place = place_in(k, h.kernel, w.kernel);
    const auto [inside, beyond] = w.outputs_inside(place.w);
    taps.push_back({place, inside, beyond});
  }
  return taps;
}

/// to[0, count) = a tap of the output places from `at` on; 0 outside the plane.
template <typename T>
void read_tap(const T* plane, const reference::Window& window, const Tap& read, Place at,
              std::int64_t count, T* to) {
  const auto& [d, h, w] = window.axes;
  const auto& [tap, inside, beyond] = read;
  while (count > 0) {
    const std::int64_t begin = at.w, end = std::min(w.output, begin + count);
    const std::int64_t z = d.tap(at.d, tap.d), y = h.tap(at.h, tap.h);
    const bool is_inside = d.is_inside(z) && h.is_inside(y);
    const std::int64_t from = is_inside ? std::clamp(inside, begin, end) : end;
    const std::int64_t until = std::clamp(beyond, from, end);
    std::fill_n(to, from - begin, T{0});
    if (until > from)
      copy_row(plane + (z * h.input + y) * w.input + w.tap(from, tap.w), w.stride, until - from,
               to + (from - begin));
    std::fill_n(to + (until - begin), end - until, T{0});
    to += end - begin;
    count -= end - begin;
    at.w = 0;
    if (++at.h < h.output) continue;
    at.h = 0;
    ++at.d;
  }
}

/// Of float or double.
template <typename T>
class Convolution {
 public:
  Convolution(const Run& run, const reference::Window& window) : run_(run), window_(window) {}

  void run(const RowEnding& ending) const {
    const T* const bias = run_.has_input(2) ? run_.inputs[2].as<T>() : nullptr;
    const std::int64_t blocks = (places_ + kColumns - 1) / kColumns;
    const double cost =
        static_cast<double>(kColumns * length_) * (0.5 + 0.1 * static_cast<double>(per_group_));
    const std::int64_t parts = parts_of_blocks(run_.shape(0)[0] * groups_ * blocks);
    run_.threads.share(
        run_.shape(0)[0] * groups_ * blocks * parts, cost / static_cast<double>(parts),
        [&](std::int64_t begin, std::int64_t end) {
          std::vector<T> columns(static_cast<std::size_t>(length_ * kColumns)),
              sums(static_cast<std::size_t>(per_group_ * kColumns));
          for (std::int64_t i = begin; i < end; ++i) {
            const std::int64_t block = i / parts, part = i % parts;
            const Channels channels = {per_group_ * part / parts, per_group_ * (part + 1) / parts};
            run_block(block / blocks, block % blocks * kColumns, channels, bias, ending, columns,
                      sums);
          }
        });
  }

 private:
  /// Output channels of a group.
  struct Channels {
    std::int64_t begin, end;
  };

  /// In how many parts the channels of a block are shared: small images have too few blocks for the threads, but each part lays
  /// the block out for itself.
  std::int64_t parts_of_blocks(std::int64_t blocks) const {
    constexpr std::int64_t kEnoughBlocks = 4, kLeastChannels = 64;
    return parts_of(blocks, kEnoughBlocks, per_group_, kLeastChannels);
  }

  /// `group`: of all groups of all images.
  void run_block(std::int64_t group, std::int64_t first, Channels channels, const T* bias,
                 const RowEnding& ending, std::vector<T>& columns, std::vector<T>& sums) const {
    const std::int64_t count = std::min(kColumns, places_ - first);
    const std::int64_t in_plane = window_.input_elements();
    const Place at = place_in(first, window_.height().output, window_.width().output);
    T* column = columns.data();
    for (std::int64_t i = 0; i < planes_; ++i)
      for (const Tap& tap : taps_) {
        read_tap(x_ + (group * planes_ + i) * in_plane, window_, tap, at, count, column);
        column += kColumns;
      }
    const std::int64_t channel = group % groups_ * per_group_ + channels.begin;
    const std::int64_t rows = channels.end - channels.begin;
    for (std::int64_t c = 0; c < rows; ++c)
      std::fill_n(sums.data() + c * kColumns, kColumns, bias == nullptr ? T{0} : bias[channel + c]);
    add_product<T>({weights_ + channel * length_, length_}, rows, length_,
                   {columns.data(), kColumns}, {sums.data(), kColumns}, kColumns);
    ending.apply(sums.data(), rows * kColumns);
    T* const y = y_ + (group * per_group_ + channels.begin) * places_ + first;
    for (std::int64_t c = 0; c < rows; ++c)
      std::copy_n(sums.data() + c * kColumns, count, y + c * places_);
  }

  const Run& run_;
  const reference::Window& window_;
  const std::vector<Tap> taps_ = taps_of(window_);
  const T* const x_ = run_.inputs[0].as<T>();
  T* const y_ = run_.output(0).as<T>();
  const T* const weights_ = run_.inputs[1].as<T>();
  const std::int64_t planes_ = run_.shape(1)[1];  ///< of the input, for each group
  const std::int64_t groups_ = run_.attrs.get_int("group", 1);
  const std::int64_t per_group_ = run_.shape(1)[0] / groups_;  ///< output channels
  const std::int64_t length_ = planes_ * window_.kernel_elements();
  const std::int64_t places_ = window_.output_elements();
};

template <typename T>
void run_real(const Run& run, const RowEnding& ending) {
  if (run.output(0).data == nullptr) return;
  const reference::Window window =
      reference::window_of(run.attrs, run.shape(0), reference::kernel_of(run.attrs, run.shape(1)));
  if (is_pointwise(run, window)) return run_pointwise<T>(run, ending);
  if constexpr (std::is_same_v<T, float>)
    if (runs_by_tiles(run, window)) return run_winograd_convolution(run, window, ending);
  if (reads_rows(run, window)) return run_over_rows<T>(run, window, ending);
  if (PaddedPlanes::takes(window)) return run_shifted_convolution<T>(run, window, ending);
  Convolution<T>(run, window).run(ending);
}

void run_floats(const Run& run, const RowEnding& ending) {
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
  Tensor output(std::size_t i) const override { return whole_.output(i); }
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
      steps[0].call.type != "Conv2D" ||
      std::ranges::find(kActivations, steps[1].call.type) == std::end(kActivations) ||
      steps[1].operands.empty() || steps[1].operands[0] != body.value_of(0))
    return Unexpected("no convolution with Relu, LeakyRelu or Clip behind it");
  const std::vector<TensorDesc> inputs = read_by(steps[0], question.inputs);
  const Question anchor{steps[0].call, inputs, 1};
  if (!anchor.has_input(0) || !anchor.has_input(1)) return Unexpected("an input is missing");
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
  registry.add({.type = reference::kFused,
                .supports = supports_activation,
                .run = run_with_activation,
                .may_save_products = may_save_products_of_anchor,
                .of_peak = of_peak_of_anchor,
                .is_for_open_sizes = is_flat_float32});
}

}  // namespace aoe::native
