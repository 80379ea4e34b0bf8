// Weight and bias packing for generated convolutions.
#include "compiler/conv/conv_weights.h"

#include <algorithm>

#include "compiler/emit/bf16_pairs.h"
#include "compiler/emit/packed_constant.h"

namespace aoe::compiler {
namespace {

void pack_block(const float* weights, const DirectCut& cut, std::int64_t oc_block, float* to) {
  const ConvShape& s = cut.shape();
  const GroupLanes& groups = cut.group_lanes();
  const std::int64_t taps = s.kernel_height * s.kernel_width, lanes = cut.block_lanes();
  const std::int64_t in_channels = s.group_in_channels(), tap_stride = in_channels * lanes;
  for (std::int64_t lane = 0; lane < lanes; ++lane) {
    const std::int64_t oc = oc_block * lanes + lane, place = oc % s.group_out_channels();
    if (oc >= s.out_channels) return;
    for (std::int64_t step = 0; step < in_channels; ++step) {
      const float* from = weights + (oc * in_channels + groups.channel(place, step)) * taps;
      float* at = to + step * lanes + lane;
      for (std::int64_t tap = 0; tap < taps; ++tap) at[tap * tap_stride] = from[tap];
    }
  }
}

/// The same of pairs; a last channel without a neighbour has a zero beside it. Rows that are channels stand as channels do.
void pack_pairs(const float* weights, std::int64_t channels, const DirectCut& cut,
                std::int64_t oc_block, std::uint32_t* to) {
  const ConvShape& s = cut.shape();
  const std::int64_t taps = s.kernel_height * s.kernel_width, lanes = cut.block_lanes();
  for (std::int64_t lane = 0; lane < lanes; ++lane) {
    const std::int64_t oc = oc_block * lanes + lane;
    if (oc >= s.out_channels) return;
    const auto weight = [&](std::int64_t channel, std::int64_t tap) {
      return channel < channels ? weights[(oc * channels + channel) * taps + tap] : 0.0f;
    };
    for (std::int64_t tap = 0; tap < taps; ++tap)
      for (std::int64_t pair = 0; pair < s.in_channels; ++pair)
        to[(tap * s.in_channels + pair) * lanes + lane] =
            bf16_pair(weight(2 * pair, tap), weight(2 * pair + 1, tap));
  }
}

}  // namespace

PackedConstant pack_direct_weights(const Task& task, const DirectCut& cut) {
  return packed_numbers<float>(
      cut.weight_elements(), [weights = task.inputs[1].constant, cut](float* to) {
        const std::int64_t block = cut.weight_elements() / cut.oc_blocks();
        const auto* from = weights->view().as<float>();
        const Shape& shape = weights->desc().shape;
        const std::int64_t channels = shape[1] * (cut.rows_are_channels() ? shape[2] : 1);
        for (std::int64_t b = 0; b < cut.oc_blocks(); ++b) {
          if (cut.is_bf16())
            pack_pairs(from, channels, cut, b, reinterpret_cast<std::uint32_t*>(to) + b * block);
          else
            pack_block(from, cut, b, to + b * block);
        }
      });
}

PackedConstant pack_bias(const Task& task, const ConvShape& shape, std::int64_t elements) {
  const ConstantPtr bias = shape.has_bias ? task.inputs[2].constant : nullptr;
  return packed_numbers<float>(elements, [bias](float* to) {
    if (bias) std::copy_n(bias->view().as<float>(), element_count(bias->desc().shape), to);
  });
}

}  // namespace aoe::compiler
