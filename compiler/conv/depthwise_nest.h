// The loop nest of depthwise convolution. Lanes are channels; a block of output pixels is kept in
// registers, and every input vector is loaded once for all the taps and outputs that read it.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "compiler/conv/conv_shape.h"
#include "compiler/conv/pixel_blocks.h"
#include "compiler/conv/rows_of.h"
#include "compiler/impl.h"

namespace aoe::compiler {

/// A Schedule of `depthwise` by name.
struct DepthwiseTiling {
  std::int64_t oh_block = 1;     ///< register block: output rows
  std::int64_t ow_block = 1;     ///< register block: output columns
  std::int64_t row_tile = 1;     ///< row blocks per parallel iteration
  std::int64_t vector_tile = 1;  ///< vectors of channels per parallel iteration
  std::int64_t unroll_rows = 1;  ///< 0: taps of a column run in a loop, for large windows
};

/// What is multiplied: numbers of float32, or of a row four neighbouring pixels at once, unsigned bytes that slide through a quad by
/// signed ones. Such sums are int32.
enum class DepthwiseFactors { kFloats, kQuads };

/// A depthwise convolution cut up for one tiling.
class DepthwiseCut {
 public:
  DepthwiseCut(const ConvShape& shape, Format format, int lanes, const DepthwiseTiling& tiling,
               DepthwiseFactors factors = DepthwiseFactors::kFloats);

  const ConvShape& shape() const { return shape_; }
  const DepthwiseTiling& tiling() const { return tiling_; }
  Format format() const { return format_; }
  int lanes() const { return lanes_; }
  bool has_quads() const { return factors_ == DepthwiseFactors::kQuads; }
  /// Vectors of weights for a row of taps: of one tap each, or of quads, of which number i ends 4 i taps before the row does.
  std::int64_t row_factors() const;
  std::vector<AxisSegment> row_segments() const;
  std::vector<AxisSegment> column_segments() const;
  std::int64_t vectors() const;
  std::int64_t row_blocks() const;
  std::int64_t row_tiles() const;
  std::int64_t vector_tiles() const;
  std::int64_t parallel_extent() const;
  std::int64_t registers() const;
  std::int64_t body_fmas() const;     ///< multiply-adds that the code spells out, or dot products
  std::int64_t body_results() const;  ///< that the code spells out
  /// Core cycles on a core with two FMA and two load ports, everything in L1.
  double core_cycles() const;

 private:
  /// Cycles of one block before its results leave.
  double block_work(double products, double loads, double taps) const;

  ConvShape shape_;
  Format format_;
  int lanes_;
  DepthwiseTiling tiling_;
  DepthwiseFactors factors_;
};

/// What the nest multiplies and adds, channel by channel; float32, each element `vectors * lanes` channels wide.
struct DepthwiseConstants {
  PackedConstant weights;  ///< [vector of channels][kh][row_factors()][lanes]
  /// The sums start from it; behind them with a multiplier. Of quads int32, less what zeros of the input add, and then a row for each
  /// row of taps: what its zeros add.
  PackedConstant bias;
  std::optional<PackedConstant> multiplier;  ///< of the sums and the bias
  float input_zero = 0;                      ///< what stands for zero in the input
  std::optional<std::size_t>
      zero_input;  ///< the task's input that says so, where it is no constant
};

/// The task's own.
DepthwiseConstants depthwise_constants(const Task& task, const DepthwiseCut& cut);

/// Writes the code of some rows into a function whose first constants are weights and bias. For cuts of one row at a time
/// whose taps run in a loop (oh_block 1, unroll_rows 0).
void write_depthwise_rows(loopnest::Builder& builder, const DepthwiseCut& cut, const RowsOf& rows);

/// In float32.
Kernel build_depthwise(const Task& task, const FormatChoice& format, const DepthwiseCut& cut);
/// With other constants than the task's. Bytes of the input are widened to float32.
Kernel build_depthwise(const Task& task, const FormatChoice& format, const DepthwiseCut& cut,
                       DepthwiseConstants constants);

}  // namespace aoe::compiler
