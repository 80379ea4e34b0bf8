// The constants of a Winograd convolution: weights transformed and packed for its tiling, and the bias.
#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include "compiler/conv/conv_weights.h"
#include "compiler/conv/winograd_tiles.h"
#include "compiler/conv/winograd_transforms.h"
#include "compiler/emit/packed_constant.h"
#include "reference/elements/float16.h"

namespace aoe::compiler {
namespace {

/// G g G^T of many kernels side by side, position by position: first the columns, then the rows. In double, since the weights
/// are read many times and transformed once. Kernels are the innermost loop, so that a compiler makes vectors of them: one at a
/// time took 13 ms for 256 x 256 of them, a third of the time that tuning spent on compiling such a candidate.
class KernelTransform {
 public:
  KernelTransform(std::vector<std::vector<double>> g, std::int64_t width)
      : g_(std::move(g)),
        width_(static_cast<std::size_t>(width)),
        kernels_(taps() * taps() * width_),
        columns_(size() * taps() * width_),
        transformed_(size() * size() * width_) {}

  /// Of tap t of kernel k.
  void set(std::int64_t t, std::int64_t k, float weight) { kernels_[at(t, k)] = weight; }

  void run() {
    for (std::size_t i = 0; i < size(); ++i)
      for (std::size_t c = 0; c < taps(); ++c)
        sum(g_[i], kernels_.data() + c * width_, taps() * width_,
            columns_.data() + (i * taps() + c) * width_);
    for (std::size_t i = 0; i < size(); ++i)
      for (std::size_t j = 0; j < size(); ++j)
        sum(g_[j], columns_.data() + i * taps() * width_, width_,
            transformed_.data() + (i * size() + j) * width_);
  }

  float get(std::int64_t position, std::int64_t k) const {
    return static_cast<float>(transformed_[at(position, k)]);
  }

 private:
  std::size_t size() const { return g_.size(); }
  std::size_t taps() const { return g_[0].size(); }
  std::size_t at(std::int64_t place, std::int64_t k) const {
    return static_cast<std::size_t>(place) * width_ + static_cast<std::size_t>(k);
  }

  /// The factors times as many rows, whose distance is `stride`.
  void sum(const std::vector<double>& factors, const double* rows, std::size_t stride,
           double* sums) const {
    std::fill_n(sums, width_, 0.0);
    for (const double factor : factors) {
      for (std::size_t k = 0; k < width_; ++k) sums[k] += factor * rows[k];
      rows += stride;
    }
  }

  std::vector<std::vector<double>> g_;
  std::size_t width_;
  std::vector<double> kernels_, columns_, transformed_;
};

/// One number of a pair, the first of which lies in the low half.
void set_half(float value, std::int64_t number, float* pair) {
  const std::uint16_t bits = reference::BFloat16(value).bits;
  std::memcpy(reinterpret_cast<char*>(pair) + number * std::int64_t{sizeof bits}, &bits,
              sizeof bits);
}

/// [oc_block][position][input channel or pair][oc_vectors * lanes], zeros beyond the last channels.
class WeightPacking {
 public:
  WeightPacking(const WinogradCut& cut, const float* from, float* to)
      : cut_(cut),
        shape_(cut.shape()),
        width_(cut.tiling().oc_vectors * cut.lanes()),
        channels_(cut.in_chunks() * cut.tiling().ic_unroll),
        from_(from),
        to_(to),
        transform_(weight_transform(cut.inputs(), cut.taps()), width_) {}

  void run() {
    for (std::int64_t block = 0; block * width_ < shape_.out_channels; ++block)
      for (std::int64_t ic = 0; ic < shape_.in_channels; ++ic) pack(block, ic);
  }

 private:
  /// One input channel's kernels of a block of output channels.
  void pack(std::int64_t block, std::int64_t ic) {
    const std::int64_t first = block * width_, taps = cut_.taps() * cut_.taps();
    const std::int64_t count = std::min(width_, shape_.out_channels - first);
    for (std::int64_t k = 0; k < count; ++k) {
      const float* kernel = from_ + ((first + k) * shape_.in_channels + ic) * taps;
      for (std::int64_t t = 0; t < taps; ++t) transform_.set(t, k, kernel[t]);
    }
    transform_.run();
    const std::int64_t step = cut_.is_bf16() ? ic / 2 : ic;
    for (std::int64_t p = 0; p < cut_.positions(); ++p) {
      float* at = to_ + ((block * cut_.positions() + p) * channels_ + step) * width_;
      for (std::int64_t k = 0; k < count; ++k) {
        if (cut_.is_bf16())
          set_half(transform_.get(p, k), ic % 2, at + k);
        else
          at[k] = transform_.get(p, k);
      }
    }
  }

  const WinogradCut& cut_;
  const ConvShape& shape_;
  const std::int64_t width_, channels_;
  const float* from_;
  float* to_;
  KernelTransform transform_;
};

PackedConstant pack_weights(const Task& task, const WinogradCut& cut) {
  return packed_numbers<float>(cut.weight_elements(),
                               [weights = task.inputs[1].constant, cut](float* to) {
                                 WeightPacking(cut, weights->view().as<float>(), to).run();
                               });
}

}  // namespace

std::vector<PackedConstant> winograd_constants(const Task& task, const WinogradCut& cut) {
  const std::int64_t channels = cut.oc_blocks() * cut.tiling().oc_vectors * cut.lanes();
  return {pack_weights(task, cut), pack_bias(task, cut.shape(), channels)};
}

}  // namespace aoe::compiler
