// The constants of a Winograd convolution: weights transformed and packed for its tiling, and the bias.
#include <algorithm>
#include <cstring>
#include <numeric>

#include "compiler/conv/conv_weights.h"
#include "compiler/conv/winograd_tiles.h"
#include "compiler/conv/winograd_transforms.h"
#include "reference/float16.h"

namespace aoe::compiler {
namespace {

/// G g G^T of one kernel, position by position: first the columns, then the rows. In double, since the weights are read
/// many times and transformed once.
void transform_kernel(const float* kernel, const std::vector<std::vector<double>>& g,
                      std::vector<double>& columns, float* transformed) {
  const std::size_t size = g.size(), taps = g[0].size();
  for (std::size_t i = 0; i < size; ++i) {
    for (std::size_t c = 0; c < taps; ++c) {
      double sum = 0;
      for (std::size_t r = 0; r < taps; ++r) sum += g[i][r] * kernel[r * taps + c];
      columns[i * taps + c] = sum;
    }
  }
  for (std::size_t i = 0; i < size; ++i) {
    const double* row = columns.data() + i * taps;
    for (std::size_t j = 0; j < size; ++j)
      transformed[i * size + j] =
          static_cast<float>(std::inner_product(row, row + taps, g[j].begin(), 0.0));
  }
}

/// One number of a pair, the first of which lies in the low half.
void set_half(float value, std::int64_t number, float* pair) {
  const std::uint16_t bits = reference::BFloat16(value).bits;
  std::memcpy(reinterpret_cast<char*>(pair) + number * std::int64_t{sizeof bits}, &bits,
              sizeof bits);
}

/// [oc_block][position][input channel or pair][oc_vectors * lanes], zeros beyond the last channels.
PackedConstant pack_weights(const Task& task, const WinogradCut& cut) {
  const auto elements = static_cast<std::size_t>(cut.weight_elements());
  return {.size_bytes = elements * sizeof(float),
          .pack = [weights = task.inputs[1].constant, cut, elements](void* destination) {
            const ConvShape& s = cut.shape();
            const float* from = weights->view().as<float>();
            float* to = static_cast<float*>(destination);
            std::fill_n(to, elements, 0.0f);
            const auto g = weight_transform(cut.inputs(), cut.taps());
            const std::int64_t channels = cut.in_chunks() * cut.tiling().ic_unroll;
            const std::int64_t width = cut.tiling().oc_vectors * cut.lanes();
            const std::int64_t positions = cut.positions();
            const std::int64_t taps = cut.taps() * cut.taps();
            std::vector<double> columns(g.size() * g[0].size());
            std::vector<float> transformed(static_cast<std::size_t>(positions));
            // Output channels innermost: they are neighbours in memory, so each line is written once.
            for (std::int64_t block = 0; block * width < s.out_channels; ++block) {
              for (std::int64_t ic = 0; ic < s.in_channels; ++ic) {
                const std::int64_t end = std::min((block + 1) * width, s.out_channels);
                for (std::int64_t oc = block * width; oc < end; ++oc) {
                  transform_kernel(from + (oc * s.in_channels + ic) * taps, g, columns,
                                   transformed.data());
                  const std::int64_t step = cut.is_bf16() ? ic / 2 : ic;
                  float* at = to + (block * positions * channels + step) * width + oc % width;
                  for (const float value : transformed) {
                    if (cut.is_bf16())
                      set_half(value, ic % 2, at);
                    else
                      *at = value;
                    at += channels * width;
                  }
                }
              }
            }
          }};
}

}  // namespace

std::vector<PackedConstant> winograd_constants(const Task& task, const WinogradCut& cut) {
  const std::int64_t channels = cut.oc_blocks() * cut.tiling().oc_vectors * cut.lanes();
  return {pack_weights(task, cut), pack_bias(task, cut.shape(), channels)};
}

}  // namespace aoe::compiler
