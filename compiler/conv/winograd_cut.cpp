// The arithmetic of a Winograd convolution's tiling.
#include <algorithm>

#include "compiler/conv/image_store.h"
#include "compiler/conv/winograd_nest.h"
#include "compiler/emit/block_cycles.h"
#include "compiler/emit/integer_math.h"
#include "graph/precision.h"

namespace aoe::compiler {
namespace {

/// As many elements of 4 bytes or a few more: an odd number of cache lines. A transform writes or reads a line of every position
/// at once; positions that lie a multiple of 4 KiB apart would share one set of the level-1 cache.
std::int64_t apart_in_cache(std::int64_t elements) {
  constexpr std::int64_t kLine = 64 / 4;
  return (ceil_div(elements, kLine) | 1) * kLine;
}

}  // namespace

Result<void> supports_winograd_window(const Task& task, WinogradSize size) {
  if (graph::is_high_precision(task.op)) return Unexpected("high precision asks for plain sums");
  const Result<ConvShape> shape = conv_shape(task);
  if (!shape) return Unexpected(shape.error());
  const ConvShape& s = *shape;
  if (s.is_transposed) return Unexpected("Conv2DTranspose is not covered");
  if (s.kernel_height != size.taps || s.kernel_width != size.taps) {
    return Unexpected("kernel " + std::to_string(s.kernel_height) + "x" +
                      std::to_string(s.kernel_width) + ", needs " + std::to_string(size.taps) +
                      "x" + std::to_string(size.taps));
  }
  if (s.stride_height != 1 || s.stride_width != 1) {
    return Unexpected("stride " + std::to_string(s.stride_height) + "x" +
                      std::to_string(s.stride_width) + ", needs 1x1");
  }
  if (s.dilation_height != 1 || s.dilation_width != 1) {
    return Unexpected("dilation " + std::to_string(s.dilation_height) + "x" +
                      std::to_string(s.dilation_width) + ", needs 1x1");
  }
  if (s.input_shuffle > 1) return Unexpected("the input is to be shuffled while it is read");
  if (s.groups != 1) return Unexpected(std::to_string(s.groups) + " groups, needs 1");
  return {};
}

Result<void> supports_winograd(const Task& task, WinogradSize size) {
  if (Result<void> window = supports_winograd_window(task, size); !window) return window;
  return supports_float_convolution(task, conv_shape(task).value());
}

WinogradCut::WinogradCut(const ConvShape& shape, WinogradSize size, int lanes,
                         const WinogradTiling& tiling, WinogradPrecision precision)
    : shape_(shape), size_(size), lanes_(lanes), tiling_(tiling), precision_(precision) {
}

std::int64_t WinogradCut::tile_rows() const {
  return ceil_div(shape_.out_height, outputs());
}
std::int64_t WinogradCut::tile_columns() const {
  return ceil_div(shape_.out_width, outputs());
}
std::int64_t WinogradCut::tiles() const {
  return shape_.batch * tile_rows() * tile_columns();
}
std::int64_t WinogradCut::tile_groups() const {
  return ceil_div(tiles(), tiles_per_iteration());
}
std::int64_t WinogradCut::in_vectors() const {
  return ceil_div(shape_.in_channels, lanes_);
}
std::int64_t WinogradCut::in_chunks() const {
  const std::int64_t steps = has_pairs() ? ceil_div(shape_.in_channels, 2) : shape_.in_channels;
  return ceil_div(steps, tiling_.ic_unroll);
}
std::int64_t WinogradCut::oc_blocks() const {
  return ceil_div(ceil_div(shape_.out_channels, lanes_), tiling_.oc_vectors);
}
std::int64_t WinogradCut::oc_blocks_per_split() const {
  return ceil_div(oc_blocks(), tiling_.oc_splits);
}
std::int64_t WinogradCut::weight_elements() const {
  return oc_blocks() * positions() * in_chunks() * tiling_.ic_unroll * tiling_.oc_vectors * lanes_;
}
std::int64_t WinogradCut::prefetch_elements() const {
  const std::int64_t position = weight_elements() / (oc_blocks() * positions());
  return tiling_.prefetch == 1 ? position : tiling_.prefetch * lanes_;
}

std::int64_t WinogradCut::input_stride() const {
  return apart_in_cache(in_vectors() * tiles_per_iteration() * in_lanes());
}
std::int64_t WinogradCut::product_stride() const {
  return apart_in_cache(tiling_.oc_vectors * tiles_per_iteration() * lanes_);
}
std::int64_t WinogradCut::input_scratch() const {
  return positions() * input_stride();
}
std::int64_t WinogradCut::product_scratch() const {
  return positions() * product_stride();
}
std::int64_t WinogradCut::parallel_extent() const {
  return tile_groups() * tiling_.oc_splits;
}

std::int64_t WinogradCut::registers() const {
  return tiling_.oc_vectors * tiling_.tile_block +
         factor_registers(tiling_.oc_vectors, vector_bytes());
}

double WinogradCut::efficiency() const {
  if (is_int8()) return 0.95;
  if (inputs() == 6) return 1.1;
  if (is_bf16()) return 1.08;
  return inputs() == 4 ? 0.95 : outputs() == 6 ? 0.85 : 1.0;
}

double WinogradCut::core_cycles() const {
  return core_cycles(tile_groups(), tiles());
}

double WinogradCut::core_cycles(std::int64_t groups, std::int64_t tiles) const {
  const auto vectors = static_cast<double>(tiling_.oc_vectors);
  const auto tiles_in_block = static_cast<double>(tiling_.tile_block);
  const double products =
      block_cycles(vector_bytes(), vectors * tiles_in_block, tiles_in_block, vectors, 1) *
      static_cast<double>(groups * tiling_.tile_runs * oc_blocks() * positions()) *
      static_cast<double>(in_chunks() * tiling_.ic_unroll);
  // A load, additions and a store for each position of a tile and vector of channels, in and out. Of tiles of 8x8, what
  // is between the two passes of the output transform fits the registers with 4 outputs a side only.
  const double cycles_per_position = is_int8()        ? 4.5
                                     : inputs() < 8   ? 4.0
                                     : outputs() == 4 ? 3.0
                                     : outputs() == 5 ? 4.0
                                                      : 6.0;
  const double transforms =
      cycles_per_position * static_cast<double>(positions() * tiles) *
      static_cast<double>(in_vectors() * tiling_.oc_splits + oc_blocks() * tiling_.oc_vectors);
  return products + transforms;
}

}  // namespace aoe::compiler
