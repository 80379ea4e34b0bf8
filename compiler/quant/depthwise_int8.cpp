// See depthwise_int8.h.
#include "compiler/quant/depthwise_int8.h"

#include <algorithm>

#include "compiler/quant/quant_store.h"
#include "compiler/quant/quant_weights.h"

namespace aoe::compiler {
namespace {

constexpr std::int64_t kMostExact = std::int64_t{1}
                                    << 24;    ///< float32 holds all whole numbers up to it
constexpr std::int64_t kLargestFactor = 255;  ///< a byte less its zero point

/// `elements` floats: value(channel) for each of the channels, then zeros.
template <typename Value>
PackedConstant pack_channels(std::int64_t channels, std::int64_t elements, Value value) {
  return {.size_bytes = static_cast<std::size_t>(elements) * sizeof(float),
          .pack = [=](void* destination) {
            auto* to = static_cast<float*>(destination);
            std::fill_n(to, elements, 0.0f);
            for (std::int64_t c = 0; c < channels; ++c) to[c] = static_cast<float>(value(c));
          }};
}

PackedConstant pack_weights(const Task& task, const DepthwiseCut& cut) {
  const std::int64_t taps = cut.shape().kernel_height * cut.shape().kernel_width;
  const auto elements = static_cast<std::size_t>(cut.vectors() * taps * cut.lanes());
  return {.size_bytes = elements * sizeof(float), .pack = [=](void* destination) {
            const CentredWeights weights(task, cut.shape());
            auto* to = static_cast<float*>(destination);
            std::fill_n(to, elements, 0.0f);
            for (std::int64_t c = 0; c < cut.shape().out_channels; ++c) {
              for (std::int64_t tap = 0; tap < taps; ++tap) {
                to[(c / cut.lanes() * taps + tap) * cut.lanes() + c % cut.lanes()] =
                    static_cast<float>(weights.at(c, 0, tap));
              }
            }
          }};
}

}  // namespace

Result<void> supports_depthwise_int8(const Task& task, const ConvShape& shape) {
  if (Result<void> anchor = supports_quant_anchor(task); !anchor) return anchor;
  const std::int64_t taps = shape.kernel_height * shape.kernel_width;
  if (taps * kLargestFactor * kLargestFactor > kMostExact) {
    return Unexpected("sums of " + std::to_string(taps) + " products may exceed 2^24");
  }
  for (const std::int64_t bias : quant_by_channel(task, kQuantBias, shape.out_channels)) {
    if (std::abs(bias) > kMostExact)
      return Unexpected("bias " + std::to_string(bias) + " is beyond 2^24");
  }
  return supports_quant_epilogue(task);
}

DepthwiseConstants depthwise_int8_constants(const Task& task, const DepthwiseCut& cut) {
  const std::int64_t channels = cut.shape().out_channels;
  const std::int64_t elements = cut.vectors() * cut.lanes();
  const ConstantPtr multiplier = task.inputs[kQuantMultiplier].constant;
  const bool is_one = element_count(multiplier->desc().shape) == 1;
  return {.weights = pack_weights(task, cut),
          .bias = pack_channels(channels, elements,
                                [bias = quant_by_channel(task, kQuantBias, channels)](
                                    std::int64_t c) { return bias[static_cast<std::size_t>(c)]; }),
          .multiplier = pack_channels(
              channels, elements,
              [=](std::int64_t c) { return multiplier->view().as<float>()[is_one ? 0 : c]; }),
          .input_zero = static_cast<float>(quant_by_channel(task, kQuantXZero, 1)[0]),
          .zero_input =
              has_computed_zero(task) ? std::optional<std::size_t>(kQuantXZero) : std::nullopt};
}

}  // namespace aoe::compiler
