// The arithmetic of a depthwise convolution's tiling.
#include <algorithm>

#include "compiler/conv/depthwise_nest.h"
#include "compiler/emit/integer_math.h"

namespace aoe::compiler {
namespace {

/// Input coordinates that a block of outputs reads along one axis.
std::int64_t reach(const WindowAxis& axis, std::int64_t block) {
  return (block - 1) * axis.stride + axis.reach();
}

}  // namespace

DepthwiseCut::DepthwiseCut(const ConvShape& shape, Format format, int lanes,
                           const DepthwiseTiling& tiling, DepthwiseFactors factors)
    : shape_(shape), format_(format), lanes_(lanes), tiling_(tiling), factors_(factors) {
}

std::int64_t DepthwiseCut::row_factors() const {
  return has_quads() ? ceil_div(shape_.kernel_width, 4) : shape_.kernel_width;
}

std::vector<AxisSegment> DepthwiseCut::row_segments() const {
  if (tiling_.unroll_rows != 0) return segments(shape_.row_axis(), tiling_.oh_block);
  // The taps' range is computed while running: all rows share code.
  return {{.first = 0, .size = 1, .count = shape_.out_height, .taps = {{0, shape_.kernel_height}}}};
}

std::vector<AxisSegment> DepthwiseCut::column_segments() const {
  return segments(shape_.column_axis(), tiling_.ow_block);
}

std::int64_t DepthwiseCut::vectors() const {
  return ceil_div(shape_.out_channels, lanes_);
}
std::int64_t DepthwiseCut::row_blocks() const {
  return ceil_div(shape_.out_height, tiling_.oh_block);
}
std::int64_t DepthwiseCut::row_tiles() const {
  return ceil_div(row_blocks(), tiling_.row_tile);
}
std::int64_t DepthwiseCut::vector_tiles() const {
  return ceil_div(vectors(), tiling_.vector_tile);
}
std::int64_t DepthwiseCut::parallel_extent() const {
  return shape_.batch * row_tiles() * vector_tiles();
}

std::int64_t DepthwiseCut::registers() const {
  const std::int64_t weights =
      row_factors() * (tiling_.unroll_rows != 0 ? shape_.kernel_height : 1);
  // A large window's weights come from memory, through the operand of the multiply-add.
  return tiling_.oh_block * tiling_.ow_block + std::min<std::int64_t>(weights, 9) +
         (has_quads() ? 3 : 1);
}

std::int64_t DepthwiseCut::body_fmas() const {
  const std::int64_t taps = row_factors() * (tiling_.unroll_rows != 0 ? shape_.kernel_height : 1);
  return body_results() * taps;
}

std::int64_t DepthwiseCut::body_results() const {
  std::int64_t results = 0;
  for (const AxisSegment& rows : row_segments())
    for (const AxisSegment& columns : column_segments()) results += rows.size * columns.size;
  return results;
}

double DepthwiseCut::block_work(double products, double loads, double taps) const {
  // What makes quads goes through the units that multiply them.
  return has_quads() ? std::max((products + loads) / 2, taps * 4)
                     : std::max({products / 2, loads / 2, taps * 4});
}

double DepthwiseCut::core_cycles() const {
  const auto taps = static_cast<double>(shape_.kernel_height * row_factors());
  double cycles = 0;
  for (const AxisSegment& rows : row_segments()) {
    for (const AxisSegment& columns : column_segments()) {
      const auto outputs = static_cast<double>(rows.size * columns.size);
      const double input_rows = tiling_.unroll_rows != 0
                                    ? static_cast<double>(reach(shape_.row_axis(), rows.size))
                                    : static_cast<double>(shape_.kernel_height);
      // A quad takes two instructions more to slide on.
      const double loads = input_rows *
                               static_cast<double>(reach(shape_.column_axis(), columns.size)) *
                               (has_quads() ? 3 : 1) +
                           taps;
      // Each accumulator waits four cycles for its previous addition; stores leave at one a cycle.
      cycles += static_cast<double>(rows.count * columns.count) *
                (block_work(outputs * taps, loads, taps) + outputs);
    }
  }
  return cycles * static_cast<double>(shape_.batch * vectors());
}

}  // namespace aoe::compiler
