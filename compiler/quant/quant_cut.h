// QuantCut: a convolution or matrix product of bytes, cut up for one tiling. A matrix product is a 1x1 convolution whose
// pixels are the rows of its left factor.
//
// One block computes oc_vectors x oh_block x ow_block vectors of int32 sums in registers: for each quad of input channels
// one vector of weights per output vector, one broadcast quad per pixel, and dot() of the two. The dot product wants
// unsigned inputs and signed weights, so signed inputs are shifted by 128 and weights lose their zero point when they are
// packed; what the input's zero point adds to every sum is a constant per channel, and part of the bias, or taken off the bias when
// the zero point is computed, as behind a DynamicQuantizeLinear. That holds at the border too when the padding is there in memory:
// a first stage writes the input with its padding, as quads, to the workspace, wherever it cannot be read as it lies.
//
// Weights of 8 bits less a zero point have 9. Where they may not fit they lose 128, or nothing, instead, and a block sums up the
// inputs of each pixel besides, as if there were one more vector of outputs with weights of one: what the zero point adds is that
// sum times a constant per channel.
//
// Without VNNI weights are packed as int16 pairs, those of bytes 0 and 2 of a quad and those of bytes 1 and 3, and a block multiplies
// the same bytes of its inputs by them. Nine bits fit. Where many outputs read an input it is widened once, by the first stage: the
// workspace then holds each image twice, as pairs of bytes 0 and 2, and behind these as pairs of bytes 1 and 3.
//
// With tiles (tile_block.h) sixteen quads of sixteen pixels at a time are multiplied, as many of a run as divide it.
//
// A block reads whole quads for vectors of outputs, so groups are put together until they fill both, with weights of zero
// between them: 32 groups of 4 channels become 8 of 16 for vectors of 16 lanes.
#pragma once

#include <cstdint>

#include "compiler/conv/conv_shape.h"
#include "compiler/conv/pixel_loop.h"
#include "compiler/emit/kernel_buffers.h"
#include "compiler/emit/tile_block.h"
#include "compiler/impl.h"

namespace aoe::compiler {

/// A Schedule of `conv_int8`, `gemm_int8` and what they are with tiles by name.
struct QuantTiling {
  std::int64_t oc_vectors = 1;  ///< register block: output vectors
  std::int64_t oh_block = 1;    ///< register block: output rows
  std::int64_t ow_block = 1;    ///< register block: output columns; pixels of a flat cut
  std::int64_t k_unroll = 1;    ///< quads written out in the innermost body
  std::int64_t tile = 1;  ///< row blocks (of a flat cut: blocks of pixels) per parallel iteration
  std::int64_t pixels_outer = 0;  ///< 1: output channels vary fastest between parallel iterations
  std::int64_t prefetch = 0;      ///< steps that tiles are fetched ahead
};

/// Inputs of QuantConv2D and QuantMatMul.
enum QuantInput : std::size_t {
  kQuantX,
  kQuantWeight,
  kQuantBias,
  kQuantXZero,
  kQuantWeightZero,
  kQuantMultiplier,
  kQuantInputs
};

/// Of a quantised product; others multiply matrices.
inline bool is_convolution(const Task& task) {
  return reference::is_kind(task.anchor().type, reference::OpKind::kConvolution);
}

/// MatMulInteger and ConvInteger, which give the sums of products as they are, as a QuantMatMul or QuantConv2D with an
/// int32 result; other tasks unchanged.
Task as_quant_product(const Task& task);
/// Of a task that as_quant_product() has made of another.
bool gives_sums(const Task& task);

/// What all kinds of kernels need; the reason why not otherwise. The input's zero point may be computed.
Result<void> supports_quant_anchor(const Task& task);

class QuantCut {
 public:
  /// Of a task that supports_quant_anchor(); `in` is the Format of its input. With tiles where sums_pixels() says no.
  QuantCut(const Task& task, Format in, const Soc& soc, const QuantTiling& tiling,
           bool has_tiles = false);

  /// The same task cut up otherwise.
  QuantCut with(const QuantTiling& tiling) const;

  const ConvShape& shape() const { return shape_; }
  const QuantTiling& tiling() const { return tiling_; }
  int lanes() const { return lanes_; }
  Format in_format() const { return in_; }
  bool is_signed() const { return is_signed_; }
  /// Does a block multiply pairs of int16 in place of quads of bytes?
  bool has_pairs() const { return has_pairs_; }
  bool has_tiles() const { return has_tiles_; }
  /// Quads that a step of tiles sums up.
  std::int64_t tile_words() const;
  /// A block of pixels in tiles: two rows of it, or one whose halves they are.
  TileBlock tiles_of(std::int64_t rows, std::int64_t columns, std::int64_t vectors) const;
  /// What a word of inputs holds, and what a word of weights.
  loopnest::Type input_type() const {
    return has_pairs_ ? loopnest::Type::kInt16 : loopnest::Type::kUint8;
  }
  loopnest::Elements inputs() const {
    return loopnest::words_of(has_pairs_ ? DataType::kInt16 : DataType::kUint8);
  }
  loopnest::Type weight_type() const {
    return has_pairs_ ? loopnest::Type::kInt16 : loopnest::Type::kInt8;
  }
  /// Vectors of weights for a vector of outputs and a quad of inputs.
  std::int64_t quad_vectors() const { return has_pairs_ ? 2 : 1; }
  /// Quads of one pixel's channels, the last one filled up.
  std::int64_t quads() const { return (shape_.in_channels + 3) / 4; }
  /// From one pixel that a block reads to the next.
  std::int64_t pixel_bytes() const { return quads() * 4 * shape_.stride_width; }
  /// Groups that are left, and what each has.
  std::int64_t groups() const { return groups_; }
  std::int64_t group_quads() const { return (shape_.in_channels / groups_ + 3) / 4; }
  std::int64_t group_vectors() const { return out_vectors() / groups_; }
  /// The first input channel that the block of this output channel reads.
  std::int64_t first_channel(std::int64_t oc) const;
  bool is_copied() const { return is_copied_; }
  /// The pixels of an image count as one row.
  bool is_flat() const { return is_flat_; }
  /// Rows and columns of the output as blocks cut them.
  std::int64_t pixel_rows() const { return is_flat_ ? 1 : shape_.out_height; }
  std::int64_t pixel_columns() const { return is_flat_ ? shape_.out_pixels() : shape_.out_width; }
  /// Rows and columns of the image that the blocks read.
  std::int64_t read_height() const;
  std::int64_t read_width() const;
  std::int64_t workspace_elements() const;
  /// Of an image in the workspace; from a pair to the same quad's other one.
  std::int64_t image_quads() const { return read_height() * read_width() * quads(); }
  /// How often each image stands there.
  std::int64_t image_copies() const { return has_pairs_ ? 2 : 1; }
  /// Of weights of 9 bits: the sum of each pixel's inputs is taken, and counts by channel_excess().
  bool sums_pixels() const { return sums_pixels_; }
  /// The same where groups are put together, each of which has sums of its own: weights are a sum of two sets of signed bytes.
  std::int64_t weight_sets() const { return weight_sets_; }
  /// Vectors that a block multiplies with: of weights, and of ones.
  std::int64_t block_vectors(std::int64_t vectors) const {
    return vectors + (sums_pixels_ ? 1 : 0);
  }
  /// Neighbouring quads that one loop runs through: of a pixel, or of a row of taps; and how many such runs a set has.
  std::int64_t run_quads() const;
  std::int64_t run_columns() const;
  std::int64_t steps() const;  ///< quads per sum, both sets

  std::int64_t out_vectors() const;
  PixelLoop loop() const;
  std::int64_t parallel_extent() const { return loop().parallel_extent(); }
  std::int64_t registers() const;
  /// Does a block fit registers, or tiles?
  bool is_block_small(const Soc& soc) const;
  std::int64_t body_dots() const;  ///< that the code spells out
  double core_cycles() const;

 private:
  double block_core_cycles(std::int64_t rows, std::int64_t columns, std::int64_t vectors) const;

  ConvShape shape_;
  Format in_;
  int lanes_;
  QuantTiling tiling_;
  bool is_signed_ = false, is_copied_ = false, is_flat_ = false, sums_pixels_ = false;
  bool has_pairs_ = false, has_tiles_ = false;
  std::int64_t weight_sets_ = 1, groups_ = 1;
};

/// Of the constants that a kernel reads, of which weights and biases are integers.
std::vector<loopnest::Elements> quant_constants(const QuantCut& cut, std::size_t count);

/// Weights as [block of output vectors][set][tap][quad][vector][lane], of pairs [..][vector][bytes 0 and 2, 1 and 3][lane], alike
/// for every Format.
PackedConstant pack_quant_weights(const Task& task, const QuantCut& cut);
/// Rows of int32 by output channel.
enum QuantChannelRow : std::int64_t {
  kChannelBias,    ///< less what the input's zero point adds, where that is constant
  kChannelSum,     ///< of the weights less their zero point
  kChannelExcess,  ///< what stands in the packed weights less these
  kChannelRows
};
PackedConstant pack_quant_channels(const Task& task, const QuantCut& cut);
PackedConstant pack_quant_multiplier(const Task& task, const QuantCut& cut);
/// Is the input's zero point known to a run only?
bool has_computed_zero(const Task& task);
/// Do weights less their zero points have nine bits?
bool has_wide_weights(const Task& task, std::int64_t channels);
/// The input's zero point as int32: a constant, or read from the task's input.
loopnest::Vec quant_zero_point(const loopnest::Builder& builder, const Task& task,
                               const KernelBuffers& buffers, int lanes);
/// The same as the blocks read it, an unsigned byte.
loopnest::Vec unsigned_zero_point(const loopnest::Builder& builder, const Task& task,
                                  const KernelBuffers& buffers, int lanes);
/// Of each word of uint8 bytes 0 and 2 as int16, or 1 and 3.
loopnest::Vec widened_pair(loopnest::Vec bytes, std::int64_t pair);

/// The kernel; its last stage computes, a first one copies if the cut asks for it.
Kernel build_quant(const Task& task, const FormatChoice& format, const QuantCut& cut);

}  // namespace aoe::compiler
