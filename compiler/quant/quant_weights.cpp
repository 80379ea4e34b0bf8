// What is packed for quantised products: weights in the order of the blocks, biases with the input's zero point, multipliers.
#include "compiler/quant/quant_weights.h"

#include <algorithm>

#include "compiler/emit/packed_constant.h"
#include "compiler/gemm/matmul_shape.h"
#include "compiler/quant/quant_cut.h"
#include "reference/tensors/widen.h"

namespace aoe::compiler {
namespace {

/// The zero point that leaves signed bytes.
std::int64_t weight_middle(const Task& task) {
  return task.in(kQuantWeight).dtype == DataType::kUint8 ? 128 : 0;
}

/// By output channel.
std::vector<std::int64_t> excess_of(const Task& task, const QuantCut& cut) {
  auto excess = quant_by_channel(task, kQuantWeightZero, cut.shape().out_channels);
  for (std::int64_t& each : excess) each = cut.sums_pixels() ? weight_middle(task) - each : 0;
  return excess;
}

/// The part of a weight that set 0 or 1 of signed bytes holds.
std::int8_t set_part(std::int64_t weight, std::int64_t set) {
  const std::int64_t first = std::clamp<std::int64_t>(weight, -128, 127);
  return static_cast<std::int8_t>(set == 0 ? first : weight - first);
}

/// Where the blocks find an output channel's quads of weights: the first one, and how far it is to the next.
struct PackedChannel {
  std::int64_t first, step;
};

PackedChannel packed_channel(const QuantCut& cut, std::int64_t oc) {
  const std::int64_t block = cut.tiling().oc_vectors, lanes = cut.lanes();
  const std::int64_t vector = oc / lanes / block * block;
  return {.first = vector * cut.steps() * lanes + oc - vector * lanes,
          .step = std::min(block, cut.out_vectors() - vector) * lanes};
}

/// Of a packed weight in a destination of its type: quads lie as they are; pairs in two vectors, of bytes 0 and 2 and of bytes 1 and 3.
std::int64_t packed_place(const QuantCut& cut, std::int64_t quad, std::int64_t byte) {
  if (!cut.has_pairs()) return quad * 4 + byte;
  const std::int64_t lanes = cut.lanes(), vector = quad / lanes * 2 + byte % 2;
  return (vector * lanes + quad % lanes) * 2 + byte / 2;
}

}  // namespace

std::vector<std::int64_t> quant_by_channel(const Task& task, QuantInput input,
                                           std::int64_t channels) {
  const ConstantPtr constant = task.inputs[input].constant;
  if (!constant) return std::vector<std::int64_t>(static_cast<std::size_t>(channels));
  auto values = reference::to_int64s(constant->view());
  if (values.size() == 1) values.resize(static_cast<std::size_t>(channels), values[0]);
  return values;
}

CentredWeights::CentredWeights(const Task& task, const ConvShape& shape)
    : values_(reference::to_int64s(task.inputs[kQuantWeight].constant->view())),
      zeros_(quant_by_channel(task, kQuantWeightZero, shape.out_channels)),
      taps_(shape.kernel_height * shape.kernel_width) {
  if (is_convolution(task)) {
    channel_stride_ = taps_;
    output_stride_ = taps_ * shape.group_in_channels();
  } else {
    const MatMulShape s = matmul_shape(task).value();
    channel_stride_ = s.b.row;
    output_stride_ = s.b.column;
  }
}

bool has_computed_zero(const Task& task) {
  return task.inputs[kQuantXZero].is_present() && !task.inputs[kQuantXZero].constant;
}

bool has_wide_weights(const Task& task, std::int64_t channels) {
  const auto zeros = quant_by_channel(task, kQuantWeightZero, channels);
  return std::ranges::any_of(zeros, [&](std::int64_t zero) { return zero != weight_middle(task); });
}

Vec quant_zero_point(const loopnest::Builder& builder, const Task& task,
                     const KernelBuffers& buffers, int lanes) {
  if (!has_computed_zero(task))
    return int_splat(quant_by_channel(task, kQuantXZero, 1)[0], lanes, Type::kInt32);
  return builder.load_as(Type::kInt32, *buffers.inputs[kQuantXZero], 0, lanes, {}, 0);
}

Vec unsigned_zero_point(const loopnest::Builder& builder, const Task& task,
                        const KernelBuffers& buffers, int lanes) {
  const Vec zero = quant_zero_point(builder, task, buffers, lanes);
  const bool is_signed = task.in(kQuantX).dtype == DataType::kInt8;
  return is_signed ? zero + int_splat(128, lanes, Type::kInt32) : zero;
}

Vec widened_pair(Vec bytes, std::int64_t pair) {
  const Vec words = bits_as(bytes, Type::kInt32);
  const auto all = [&](std::int64_t value) {
    return int_splat(value, words.lanes(), Type::kInt32);
  };
  const Vec wide = bit_and(pair == 0 ? words : shift_right(words, all(8)), all(0x00ff00ff));
  return bits_as(wide, Type::kInt16);
}

std::vector<Elements> quant_constants(const QuantCut& cut, std::size_t count) {
  std::vector<Elements> types(count);
  types[0] = words_of(cut.has_pairs() ? DataType::kInt16 : DataType::kInt8);
  types[1] = DataType::kInt32;
  return types;
}

PackedConstant pack_quant_weights(const Task& task, const QuantCut& cut) {
  const std::int64_t per_vector = cut.steps() * cut.quad_vectors() * cut.lanes() * 4;
  return packed_numbers<std::int8_t>(cut.out_vectors() * per_vector, [=](std::int8_t* quads) {
    const ConvShape& s = cut.shape();
    const CentredWeights weights(task, s);
    const std::vector<std::int64_t> excess = excess_of(task, cut);
    const std::int64_t taps = s.kernel_height * s.kernel_width;
    auto* pairs = reinterpret_cast<std::int16_t*>(quads);
    for (std::int64_t oc = 0; oc < s.out_channels; ++oc) {
      const PackedChannel quad_at = packed_channel(cut, oc);
      const std::int64_t group_begin = oc / s.group_out_channels() * s.group_in_channels();
      const std::int64_t shift = group_begin - cut.first_channel(oc);
      for (std::int64_t set = 0; set < cut.weight_sets(); ++set) {
        for (std::int64_t tap = 0; tap < taps; ++tap) {
          for (std::int64_t ic = 0; ic < s.group_in_channels(); ++ic) {
            const std::int64_t channel = shift + ic;
            const std::int64_t step = (set * taps + tap) * cut.group_quads() + channel / 4;
            const std::int64_t place =
                packed_place(cut, quad_at.first + step * quad_at.step, channel % 4);
            const std::int64_t weight =
                weights.at(oc, ic, tap) - excess[static_cast<std::size_t>(oc)];
            if (cut.has_pairs())
              pairs[place] = static_cast<std::int16_t>(weight);
            else
              quads[place] = set_part(weight, set);
          }
        }
      }
    }
  });
}

PackedConstant pack_quant_channels(const Task& task, const QuantCut& cut) {
  const std::int64_t row = cut.out_vectors() * cut.lanes();
  return packed_numbers<std::int32_t>(kChannelRows * row, [=](std::int32_t* to) {
    const ConvShape& s = cut.shape();
    const CentredWeights weights(task, s);
    const auto bias = quant_by_channel(task, kQuantBias, s.out_channels);
    const std::vector<std::int64_t> excess = excess_of(task, cut);
    const std::int64_t shift = cut.is_signed() ? 128 : 0;
    const std::int64_t x_zero =
        has_computed_zero(task) ? 0 : quant_by_channel(task, kQuantXZero, 1)[0] + shift;
    for (std::int64_t oc = 0; oc < s.out_channels; ++oc) {
      std::int64_t sum = 0;
      for (std::int64_t ic = 0; ic < s.group_in_channels(); ++ic) {
        for (std::int64_t tap = 0; tap < s.kernel_height * s.kernel_width; ++tap) {
          sum += weights.at(oc, ic, tap);
        }
      }
      const auto at = static_cast<std::size_t>(oc);
      to[kChannelBias * row + oc] = static_cast<std::int32_t>(bias[at] - x_zero * sum);
      to[kChannelSum * row + oc] = static_cast<std::int32_t>(sum);
      to[kChannelExcess * row + oc] = static_cast<std::int32_t>(excess[at]);
    }
  });
}

PackedConstant pack_quant_multiplier(const Task& task, const QuantCut& cut) {
  return packed_numbers<float>(cut.out_vectors() * cut.lanes(),
                               [=, multiplier = task.inputs[kQuantMultiplier].constant](float* to) {
                                 const std::int64_t count = element_count(multiplier->desc().shape);
                                 const auto* from = multiplier->view().as<float>();
                                 for (std::int64_t oc = 0; oc < cut.shape().out_channels; ++oc) {
                                   to[oc] = from[count == 1 ? 0 : oc];
                                 }
                               });
}

}  // namespace aoe::compiler
