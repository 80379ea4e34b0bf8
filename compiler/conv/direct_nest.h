// The loop nest of direct convolution: which register block, cache tile and order a Schedule asks
// for, how weights are packed for it, and the Function that computes it.
//
// One block computes oc_vectors x oh_block x ow_block output vectors in registers: for every input
// channel and tap, one weight vector per output vector, one broadcast input element per pixel.
// Lanes are output channels, so any kernel, stride and dilation runs at full width, and the input
// may lie in any format. Lanes of several groups: compiler/conv/group_lanes.h.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "compiler/conv/conv_shape.h"
#include "compiler/conv/group_lanes.h"
#include "compiler/conv/image_layout.h"
#include "compiler/conv/pixel_blocks.h"
#include "compiler/conv/rows_of.h"
#include "compiler/impl.h"

namespace aoe::compiler {

/// A Schedule of `direct` by name.
struct DirectTiling {
  std::int64_t oc_vectors = 1;  ///< register block: output vectors
  std::int64_t oh_block = 1;    ///< register block: output rows
  std::int64_t ow_block = 1;    ///< register block: output columns (pixels, when pointwise)
  std::int64_t ic_unroll = 1;   ///< input channels written out in the innermost body
  std::int64_t ic_block =
      0;  ///< input channels per cache tile; partial sums lie in the output between tiles
  std::int64_t row_tile = 1;      ///< row blocks per parallel iteration
  std::int64_t pixels_outer = 0;  ///< 1: output channels vary fastest between parallel iterations

  /// Weights are fetched into L2 ahead of their use: 0 = left to the hardware, 1 = those that the next output channels
  /// need at this place, else so many vectors ahead.
  std::int64_t prefetch = 0;
};

/// kBFloat16: inputs and weights are rounded, and multiplied as pairs of neighbouring input channels; sums are float32. Of images
/// read in NCHW, which have few channels, each row of the window is a channel of its own: 3 channels of 7 rows are 11 pairs.
enum class DirectPrecision { kFloat32, kBFloat16 };

/// Row blocks that share code: equal row taps, and the columns of each of these rows.
struct RowGroup {
  AxisSegment rows;
  std::vector<AxisSegment> columns;
};

struct DirectWork {
  double fmas = 0;    ///< vector multiply-adds that the nest runs, waste of tails included
  double cycles = 0;  ///< see block_cycles.h
};

/// A convolution cut up for one tiling: all the arithmetic that the nest, the packing and the cost
/// model share.
class DirectCut {
 public:
  /// `may_flatten`: nothing forbids to number the pixels of a pointwise convolution in one row.
  DirectCut(const ConvShape& shape, Format in, Format out, int lanes, const DirectTiling& tiling,
            bool may_flatten, DirectPrecision precision = DirectPrecision::kFloat32);

  /// Of bfloat16: an input channel is a pair of the task's, or with rows_are_channels() of their rows.
  const ConvShape& shape() const { return shape_; }
  bool rows_are_channels() const { return is_bf16() && in_ == Format::kNCHW; }
  bool is_bf16() const { return precision_ == DirectPrecision::kBFloat16; }
  loopnest::Type factor_type() const {
    return is_bf16() ? loopnest::Type::kBfloat16 : loopnest::Type::kFloat;
  }
  int factor_lanes() const { return lanes_ * per_word(factor_type()); }
  /// Channels of the input in a block of NC1HWC0.
  int in_lanes() const { return is_bf16() ? lanes_ / 2 : lanes_; }
  /// As given; but where group_lanes() are permuted, ic_unroll is all of a group.
  const DirectTiling& tiling() const { return tiling_; }
  int lanes() const { return lanes_; }
  std::int64_t vector_bytes() const { return lanes_ * std::int64_t{sizeof(float)}; }
  Format in_format() const { return in_; }
  /// Pixels of a pointwise convolution are one long row, cut into "rows" of ow_block.
  bool is_flat() const { return is_flat_; }
  std::optional<std::int64_t> flat_row() const {
    return is_flat_ ? std::optional(tiling_.ow_block) : std::nullopt;
  }
  WindowAxis row_axis() const;
  WindowAxis column_axis() const;
  std::vector<RowGroup> row_groups() const;
  std::int64_t row_blocks() const;
  std::int64_t row_tiles() const;
  std::int64_t out_vectors() const;  ///< of all channels, padding lanes included
  std::int64_t oc_blocks() const;
  std::int64_t block_lanes() const { return tiling_.oc_vectors * lanes_; }
  const GroupLanes& group_lanes() const { return group_lanes_; }
  std::int64_t chunks() const;  ///< of ic_unroll channels in a group
  std::int64_t chunks_per_tile() const;
  std::int64_t ic_tiles() const;
  std::int64_t weight_elements() const;    ///< packed
  std::int64_t prefetch_elements() const;  ///< how far ahead weights are fetched, 0 = not at all
  std::int64_t parallel_extent() const;

  /// Of input and output, which pass through a cache once or more.
  double image_bytes() const;
  /// Read again from where the input lies, once a cache is too small for image_bytes(): for each block of output channels.
  double reread_bytes() const;
  /// Of the input that an iteration reads.
  double input_tile_bytes() const;

  DirectWork work() const;
  std::int64_t body_fmas() const;  ///< vector multiply-adds and selects that the code spells out
  std::int64_t registers() const;

 private:
  /// To bring one chunk's inputs of a pixel and tap into the lanes of a block.
  std::int64_t input_loads(const BlockLanes& block) const;
  double shuffle_cycles(const BlockLanes& block) const;

  DirectPrecision precision_;
  ConvShape shape_;
  Format in_, out_;
  int lanes_;
  DirectTiling tiling_;
  bool is_flat_;
  GroupLanes group_lanes_;
};

/// Of images read in NCHW: one cache line per channel and tap.
inline constexpr std::int64_t kMaxStemChannels = 8;

/// Sizes of register blocks in output vectors.
std::vector<std::int64_t> legal_oc_vectors(const DirectCut& cut);

/// Unroll factors of input channels that never straddle a block of lanes, nor a group.
std::vector<std::int64_t> legal_ic_unrolls(const ConvShape& shape, Format in, int lanes);

/// Weights and bias, the first constants of the kernel.
std::vector<PackedConstant> direct_constants(const Task& task, const DirectCut& cut);

/// Writes the code of some rows into a function. For cuts of one row at a time (oh_block 1, one channel tile, not flat).
void write_direct_rows(loopnest::Builder& builder, const DirectCut& cut, const RowsOf& rows);

Kernel build_direct(const Task& task, const FormatChoice& format, const DirectCut& cut);

}  // namespace aoe::compiler
