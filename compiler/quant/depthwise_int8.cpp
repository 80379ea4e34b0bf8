// See depthwise_int8.h.
#include "compiler/quant/depthwise_int8.h"

#include <algorithm>

#include "compiler/emit/packed_constant.h"
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
  return packed_numbers<float>(elements, [=](float* to) {
    for (std::int64_t c = 0; c < channels; ++c) to[c] = static_cast<float>(value(c));
  });
}

PackedConstant pack_weights(const Task& task, const DepthwiseCut& cut) {
  const std::int64_t taps = cut.shape().kernel_height * cut.shape().kernel_width;
  return packed_numbers<float>(cut.vectors() * taps * cut.lanes(), [=](float* to) {
    const CentredWeights weights(task, cut.shape());
    for (std::int64_t c = 0; c < cut.shape().out_channels; ++c) {
      for (std::int64_t tap = 0; tap < taps; ++tap) {
        to[(c / cut.lanes() * taps + tap) * cut.lanes() + c % cut.lanes()] =
            static_cast<float>(weights.at(c, 0, tap));
      }
    }
  });
}

/// [vector of channels][kh][quad][lanes] of four signed bytes, in which number i ends 4 i taps before the row does.
PackedConstant pack_quads(const Task& task, const DepthwiseCut& cut) {
  const ConvShape& s = cut.shape();
  const std::int64_t quads = s.kernel_height * cut.row_factors();
  return packed_numbers<std::int8_t>(cut.vectors() * quads * cut.lanes() * 4, [=](std::int8_t* to) {
    const CentredWeights weights(task, s);
    for (std::int64_t c = 0; c < s.out_channels; ++c) {
      for (std::int64_t tap = 0; tap < s.kernel_height * s.kernel_width; ++tap) {
        const std::int64_t behind = s.kernel_width - 1 - tap % s.kernel_width;
        const std::int64_t quad = tap / s.kernel_width * cut.row_factors() + behind / 4;
        const std::int64_t lane = (c / cut.lanes() * quads + quad) * cut.lanes() + c % cut.lanes();
        to[lane * 4 + 3 - behind % 4] = static_cast<std::int8_t>(weights.at(c, 0, tap));
      }
    }
  });
}

/// Rows of int32 by channel: the bias less what zeros of the input add, then what they add in each row of taps.
PackedConstant pack_zeros(const Task& task, const DepthwiseCut& cut) {
  const ConvShape& s = cut.shape();
  const std::int64_t row = cut.vectors() * cut.lanes();
  return packed_numbers<std::int32_t>((1 + s.kernel_height) * row, [=](std::int32_t* to) {
    const CentredWeights weights(task, s);
    const auto bias = quant_by_channel(task, kQuantBias, s.out_channels);
    const std::int64_t zero = quant_by_channel(task, kQuantXZero, 1)[0];
    for (std::int64_t c = 0; c < s.out_channels; ++c) {
      std::int64_t first = bias[static_cast<std::size_t>(c)];
      for (std::int64_t kh = 0; kh < s.kernel_height; ++kh) {
        std::int64_t added = 0;
        for (std::int64_t kw = 0; kw < s.kernel_width; ++kw)
          added += zero * weights.at(c, 0, kh * s.kernel_width + kw);
        to[(1 + kh) * row + c] = static_cast<std::int32_t>(added);
        first -= added;
      }
      to[c] = static_cast<std::int32_t>(first);
    }
  });
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

DepthwiseFactors depthwise_int8_factors(const Task& task, const ConvShape& shape, const Soc& soc) {
  constexpr std::int64_t kLargestWindow = 9;  ///< of larger ones the rows are not all written out
  const bool has_quads = soc.has(Feature::kVnni) && task.in(kQuantX).dtype == DataType::kUint8 &&
                         !has_computed_zero(task) && !has_wide_weights(task, shape.out_channels) &&
                         shape.dilation_width == 1 && shape.kernel_height <= kLargestWindow &&
                         shape.kernel_width <= kLargestWindow;
  return has_quads ? DepthwiseFactors::kQuads : DepthwiseFactors::kFloats;
}

DepthwiseConstants depthwise_int8_constants(const Task& task, const DepthwiseCut& cut) {
  const std::int64_t channels = cut.shape().out_channels;
  const std::int64_t elements = cut.vectors() * cut.lanes();
  const ConstantPtr multiplier = task.inputs[kQuantMultiplier].constant;
  const bool is_one = element_count(multiplier->desc().shape) == 1;
  const auto bias = quant_by_channel(task, kQuantBias, channels);
  return {.weights = cut.has_quads() ? pack_quads(task, cut) : pack_weights(task, cut),
          .bias = cut.has_quads() ? pack_zeros(task, cut)
                                  : pack_channels(channels, elements,
                                                  [bias](std::int64_t c) {
                                                    return bias[static_cast<std::size_t>(c)];
                                                  }),
          .multiplier = pack_channels(
              channels, elements,
              [=](std::int64_t c) { return multiplier->view().as<float>()[is_one ? 0 : c]; }),
          .input_zero = static_cast<float>(quant_by_channel(task, kQuantXZero, 1)[0]),
          .zero_input =
              has_computed_zero(task) ? std::optional<std::size_t>(kQuantXZero) : std::nullopt};
}

}  // namespace aoe::compiler
