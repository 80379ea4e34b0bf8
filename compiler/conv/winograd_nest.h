// The loop nest of Winograd's convolution F(m x m, r x r): tiles of (m+r-1) x (m+r-1) inputs and the weights are
// transformed, multiplied position by position as small matrix products over the channels, and transformed back. With
// r = 3 that takes 2.25 (m = 2), 4 (m = 4) or 5.06 (m = 6) times fewer multiplications than the direct algorithm, with
// r = 4 or 5 up to 6.25 times. Lavin and Gray, "Fast Algorithms for Convolutional Neural Networks", 2015.
//
// One parallel iteration carries a block of tiles through all three steps in its thread's scratch memory, for one share
// of the output channels.
#pragma once

#include <cstdint>
#include <functional>

#include "compiler/conv/conv_shape.h"
#include "compiler/conv/winograd_transforms.h"
#include "compiler/emit/kernel_buffers.h"
#include "compiler/impl.h"

namespace aoe::compiler {

/// F(m,r): one side of a tile and of the kernel. m + r - 1 is 4, 6 or 8.
struct WinogradSize {
  std::int64_t outputs = 0, taps = 0;
  std::int64_t inputs() const { return outputs + taps - 1; }
};

/// kBFloat16: transformed inputs and weights are rounded, and multiplied as pairs of neighbouring input channels; sums and both
/// transforms are float32. kInt8: bytes are transformed to int16 and multiplied as pairs, all of it in whole numbers; see
/// compiler/quant/winograd_int8.h. kInt9: the same where weights less their zero point have 9 bits.
enum class WinogradPrecision { kFloat32, kBFloat16, kInt8, kInt9 };

/// Convolutions of stride 1 with a window of `size.taps` a side; "no" says why not.
Result<void> supports_winograd_window(const Task& task, WinogradSize size);
/// The same of float32, with constant weights.
Result<void> supports_winograd(const Task& task, WinogradSize size);

/// A Schedule of the `winograd_f<m><r>` by name.
struct WinogradTiling {
  std::int64_t oc_vectors = 1;  ///< register block of the products: output vectors
  std::int64_t tile_block = 1;  ///< register block of the products: tiles
  std::int64_t tile_runs = 1;   ///< register blocks of tiles per parallel iteration
  std::int64_t oc_splits =
      1;  ///< parallel shares of the output channels; each transforms the inputs anew
  std::int64_t ic_unroll = 1;  ///< input channels written out in the innermost body

  /// Weights are fetched into L2 ahead of their use: 0 = left to the hardware, 1 = those of the next position, else so
  /// many vectors ahead.
  std::int64_t prefetch = 0;
};

/// A convolution cut up for one tiling.
class WinogradCut {
 public:
  WinogradCut(const ConvShape& shape, WinogradSize size, int lanes, const WinogradTiling& tiling,
              WinogradPrecision precision = WinogradPrecision::kFloat32);

  const ConvShape& shape() const { return shape_; }
  const WinogradTiling& tiling() const { return tiling_; }
  int lanes() const { return lanes_; }
  std::int64_t vector_bytes() const { return lanes_ * std::int64_t{sizeof(float)}; }
  bool is_bf16() const { return precision_ == WinogradPrecision::kBFloat16; }
  bool is_int8() const {
    return precision_ == WinogradPrecision::kInt8 || precision_ == WinogradPrecision::kInt9;
  }
  /// Of whole numbers.
  ColumnWeights column_weights() const {
    return precision_ == WinogradPrecision::kInt9 ? ColumnWeights::kFifths : ColumnWeights::kWhole;
  }
  bool has_pairs() const { return precision_ != WinogradPrecision::kFloat32; }
  /// Of transformed weights.
  loopnest::Elements factors() const {
    return is_int8()   ? loopnest::words_of(DataType::kInt16)
           : is_bf16() ? loopnest::words_of(DataType::kBFloat16)
                       : DataType::kFloat;
  }
  /// Factors of a vector of input channels: channels, or pairs of them.
  std::int64_t in_lanes() const { return has_pairs() ? lanes_ / 2 : lanes_; }
  std::int64_t outputs() const { return size_.outputs; }
  std::int64_t taps() const { return size_.taps; }
  std::int64_t inputs() const { return size_.inputs(); }
  std::int64_t positions() const { return inputs() * inputs(); }
  std::int64_t tile_rows() const;
  std::int64_t tile_columns() const;
  std::int64_t tiles() const;  ///< of the whole batch
  std::int64_t tiles_per_iteration() const { return tiling_.tile_block * tiling_.tile_runs; }
  std::int64_t tile_groups() const;
  std::int64_t in_vectors() const;
  std::int64_t in_chunks() const;  ///< of ic_unroll input channels, or pairs
  std::int64_t oc_blocks() const;
  std::int64_t oc_blocks_per_split() const;
  std::int64_t weight_elements() const;    ///< transformed and packed
  std::int64_t prefetch_elements() const;  ///< how far ahead weights are fetched, 0 = not at all
  std::int64_t input_stride() const;       ///< elements between positions of transformed inputs
  std::int64_t product_stride() const;     ///< the same of products
  std::int64_t input_scratch() const;      ///< elements of transformed inputs per iteration
  std::int64_t product_scratch() const;    ///< elements of products of one block of output vectors
  std::int64_t parallel_extent() const;
  std::int64_t registers() const;
  double core_cycles() const;  ///< see block_cycles.h
  /// Of so many groups with so many tiles in all.
  double core_cycles(std::int64_t groups, std::int64_t tiles) const;
  /// Of what core_cycles() counts, as measured on fifteen layers of five models on a Zen 5 core, and on Inception-v1's
  /// 5x5 layers: the products of 6x6 tiles overlap with their transforms; the output transform of F(6,3) spills.
  double efficiency() const;

 private:
  ConvShape shape_;
  WinogradSize size_;
  int lanes_;
  WinogradTiling tiling_;
  WinogradPrecision precision_;
};

/// Reads the input's zero point of a convolution of bytes, int32 in all lanes; empty: it is 0.
using LoadInputZero = std::function<loopnest::Vec(const loopnest::Builder&, const KernelBuffers&)>;

/// What a convolution of bytes is given: transformed weights, biases (int32), multipliers, and what a zero of the input is.
struct WinogradBytes {
  PackedConstant weights, bias, multiplier;
  LoadInputZero input_zero;
};

Kernel build_winograd(const Task& task, const FormatChoice& format, const WinogradCut& cut);
Kernel build_winograd(const Task& task, const FormatChoice& format, const WinogradCut& cut,
                      WinogradBytes bytes);

}  // namespace aoe::compiler
