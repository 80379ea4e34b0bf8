// See winograd_int8.h.
#include "compiler/quant/winograd_int8.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <limits>

#include "compiler/conv/winograd_transforms.h"
#include "compiler/emit/packed_constant.h"
#include "compiler/quant/quant_cut.h"
#include "compiler/quant/quant_store.h"
#include "compiler/quant/quant_weights.h"

namespace aoe::compiler {
namespace {

constexpr std::int64_t kScale = 4;        ///< of the sums that the transforms give
constexpr std::int64_t kMostInput = 255;  ///< a byte less its zero point

std::int64_t largest_bias(const Task& task, std::int64_t channels) {
  std::int64_t largest = 0;
  for (const std::int64_t bias : quant_by_channel(task, kQuantBias, channels))
    largest = std::max(largest, std::abs(bias));
  return largest;
}

/// Of a weight less its zero point.
std::int64_t largest_weight(const Task& task, std::int64_t channels) {
  const std::int64_t least = task.in(kQuantWeight).dtype == DataType::kUint8 ? 0 : -128;
  std::int64_t largest = 0;
  for (const std::int64_t zero : quant_by_channel(task, kQuantWeightZero, channels))
    largest = std::max({largest, zero - least, least + 255 - zero});
  return largest;
}

/// [position] of one kernel.
void transform_kernel(const CentredWeights& weights, ColumnWeights columns, std::int64_t oc,
                      std::int64_t ic, std::array<std::int32_t, 36>& transformed) {
  for (std::size_t i = 0; i < 6; ++i) {
    for (std::size_t j = 0; j < 6; ++j) {
      std::int64_t sum = 0;
      for (std::size_t r = 0; r < 3; ++r)
        for (std::size_t c = 0; c < 3; ++c)
          sum += kWholeWeightTransform[i][r] * kWholeWeightTransform[j][c] *
                 weights.at(oc, ic, static_cast<std::int64_t>(r * 3 + c));
      transformed[i * 6 + j] = static_cast<std::int32_t>(sum / column_divisor(j, columns));
    }
  }
}

/// [oc_block][position][pair of input channels][oc_vectors * lanes][2], zeros beyond the last channels.
PackedConstant pack_weights(const Task& task, const WinogradCut& cut) {
  return packed_numbers<std::int16_t>(2 * cut.weight_elements(), [=](std::int16_t* to) {
    const ConvShape& s = cut.shape();
    const CentredWeights weights(task, s);
    const std::int64_t steps = cut.in_chunks() * cut.tiling().ic_unroll;
    const std::int64_t width = cut.tiling().oc_vectors * cut.lanes();
    std::array<std::int32_t, 36> transformed{};
    for (std::int64_t block = 0; block * width < s.out_channels; ++block) {
      const std::int64_t end = std::min((block + 1) * width, s.out_channels);
      for (std::int64_t ic = 0; ic < s.in_channels; ++ic) {
        for (std::int64_t oc = block * width; oc < end; ++oc) {
          transform_kernel(weights, cut.column_weights(), oc, ic, transformed);
          std::int64_t pair = (block * 36 * steps + ic / 2) * width + oc % width;
          for (const std::int32_t value : transformed) {
            to[pair * 2 + ic % 2] = static_cast<std::int16_t>(value);
            pair += steps * width;
          }
        }
      }
    }
  });
}

/// One number by output channel, zeros behind.
template <typename T, typename Value>
PackedConstant pack_channels(const WinogradCut& cut, Value value) {
  return packed_numbers<T>(cut.oc_blocks() * cut.tiling().oc_vectors * cut.lanes(),
                           [=, channels = cut.shape().out_channels](T* to) {
                             for (std::int64_t c = 0; c < channels; ++c)
                               to[c] = static_cast<T>(value(c));
                           });
}

LoadInputZero load_input_zero(const Task& task, int lanes) {
  if (!has_computed_zero(task) && quant_by_channel(task, kQuantXZero, 1)[0] == 0) return {};
  return [=](const loopnest::Builder& builder, const KernelBuffers& buffers) {
    return quant_zero_point(builder, task, buffers, lanes);
  };
}

}  // namespace

Result<void> supports_winograd_int8(const Task& task, WinogradSize size) {
  if (task.anchor().type != "QuantConv2D")
    return Unexpected(task.anchor().type + " is not what it computes");
  if (Result<void> anchor = supports_quant_anchor(task); !anchor) return anchor;
  if (Result<void> window = supports_winograd_window(task, size); !window) return window;
  const ConvShape s = conv_shape(task).value();
  const std::int64_t largest =
      s.in_channels * size.taps * size.taps * kMostInput * largest_weight(task, s.out_channels) +
      largest_bias(task, s.out_channels);
  if (largest > std::numeric_limits<std::int32_t>::max() / kScale)
    return Unexpected("sums may reach " + std::to_string(largest) + ", needs below 2^29");
  return supports_quant_epilogue(task);
}

WinogradBytes winograd_int8_constants(const Task& task, const WinogradCut& cut) {
  const ConstantPtr multiplier = task.inputs[kQuantMultiplier].constant;
  const bool is_one = element_count(multiplier->desc().shape) == 1;
  const auto bias = quant_by_channel(task, kQuantBias, cut.shape().out_channels);
  return {.weights = pack_weights(task, cut),
          .bias = pack_channels<std::int32_t>(
              cut, [=](std::int64_t c) { return kScale * bias[static_cast<std::size_t>(c)]; }),
          .multiplier = pack_channels<float>(
              cut,
              [=](std::int64_t c) {
                return multiplier->view().as<float>()[is_one ? 0 : c] / float{kScale};
              }),
          .input_zero = load_input_zero(task, cut.lanes())};
}

}  // namespace aoe::compiler
