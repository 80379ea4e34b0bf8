// The arithmetic of a direct convolution's tiling: blocks, groups, waste and expected cycles.
#include <algorithm>
#include <numeric>

#include "compiler/conv/direct_nest.h"
#include "compiler/emit/block_cycles.h"
#include "compiler/emit/integer_math.h"

namespace aoe::compiler {
namespace {

std::int64_t tap_count(const std::vector<TapRange>& taps) {
  return std::accumulate(taps.begin(), taps.end(), std::int64_t{0},
                         [](std::int64_t sum, const TapRange& t) { return sum + t.end - t.begin; });
}

/// An image whose rows are the windows' rows, side by side as channels: row y has those of the outputs in row y.
ConvShape with_rows_as_channels(ConvShape shape) {
  shape.in_channels *= shape.kernel_height;
  shape.in_height = shape.out_height;
  shape.kernel_height = shape.stride_height = shape.dilation_height = 1;
  shape.pad_top = shape.pad_bottom = 0;
  return shape;
}

ConvShape with_pairs(ConvShape shape, Format in, DirectPrecision precision) {
  if (precision == DirectPrecision::kFloat32) return shape;
  if (in == Format::kNCHW) shape = with_rows_as_channels(shape);
  shape.in_channels = ceil_div(shape.in_channels, 2);
  return shape;
}

}  // namespace

DirectCut::DirectCut(const ConvShape& shape, Format in, Format out, int lanes,
                     const DirectTiling& tiling, bool may_flatten, DirectPrecision precision)
    : precision_(precision),
      shape_(with_pairs(shape, in, precision)),
      in_(in),
      out_(out),
      lanes_(lanes),
      tiling_(tiling),
      is_flat_(may_flatten && shape_.is_pointwise()),
      group_lanes_(shape_, in, lanes, tiling.oc_vectors) {
  if (group_lanes_.is_permuted()) tiling_.ic_unroll = shape_.group_in_channels();
}

WindowAxis DirectCut::row_axis() const {
  if (is_flat_) {
    const std::int64_t rows = ceil_div(shape_.out_pixels(), tiling_.ow_block);
    return {.input = rows, .output = rows};
  }
  return shape_.row_axis();
}

WindowAxis DirectCut::column_axis() const {
  if (is_flat_) return {.input = tiling_.ow_block, .output = tiling_.ow_block};
  return shape_.column_axis();
}

std::vector<RowGroup> DirectCut::row_groups() const {
  const WindowAxis rows = row_axis();
  if (is_flat_) {
    const std::int64_t full = shape_.out_pixels() / tiling_.ow_block;
    const std::int64_t rest = shape_.out_pixels() % tiling_.ow_block;
    const auto columns_of = [](std::int64_t size) {
      return segments({.input = size, .output = size}, size);
    };
    std::vector<RowGroup> groups;
    if (full > 0) {
      groups.push_back(
          {{.first = 0, .size = 1, .count = full, .taps = {{0, 1}}}, columns_of(tiling_.ow_block)});
    }
    if (rest > 0) {
      groups.push_back(
          {{.first = full, .size = 1, .count = 1, .taps = {{0, 1}}}, columns_of(rest)});
    }
    return groups;
  }
  const std::vector<AxisSegment> columns = segments(column_axis(), tiling_.ow_block);
  if (tiling_.oh_block == 1) {
    // One row at a time: the range of vertical taps is computed while running, so all rows share
    // code.
    return {{{.first = 0, .size = 1, .count = rows.output, .taps = {{0, rows.kernel}}}, columns}};
  }
  std::vector<RowGroup> groups;
  for (AxisSegment& segment : segments(rows, tiling_.oh_block)) {
    groups.push_back({std::move(segment), columns});
  }
  return groups;
}

std::int64_t DirectCut::row_blocks() const {
  return ceil_div(row_axis().output, tiling_.oh_block);
}
std::int64_t DirectCut::row_tiles() const {
  return ceil_div(row_blocks(), tiling_.row_tile);
}
std::int64_t DirectCut::out_vectors() const {
  return ceil_div(shape_.out_channels, lanes_);
}
std::int64_t DirectCut::oc_blocks() const {
  return ceil_div(out_vectors(), tiling_.oc_vectors);
}

std::int64_t DirectCut::chunks() const {
  return shape_.group_in_channels() / tiling_.ic_unroll;
}

std::int64_t DirectCut::chunks_per_tile() const {
  if (tiling_.ic_block == 0) return chunks();
  return std::max<std::int64_t>(1, tiling_.ic_block / tiling_.ic_unroll);
}

std::int64_t DirectCut::ic_tiles() const {
  return ceil_div(chunks(), chunks_per_tile());
}

std::int64_t DirectCut::weight_elements() const {
  return oc_blocks() * chunks() * shape_.kernel_height * shape_.kernel_width * tiling_.ic_unroll *
         block_lanes();
}

std::int64_t DirectCut::prefetch_elements() const {
  return tiling_.prefetch == 1 ? weight_elements() / oc_blocks() : tiling_.prefetch * lanes_;
}

std::int64_t DirectCut::parallel_extent() const {
  return shape_.batch * oc_blocks() * row_tiles();
}

std::int64_t DirectCut::registers() const {
  const std::int64_t pixels = tiling_.oh_block * tiling_.ow_block, vectors = tiling_.oc_vectors;
  const std::int64_t sums = pixels * vectors;
  // Permuted: all weights of a tap, and inputs as they are loaded, in the current unit and in the current step.
  if (group_lanes_.is_permuted()) return sums + tiling_.ic_unroll * vectors + 3;
  // Selected: two groups' inputs and what was selected, of two steps, as the code generator lets steps overlap.
  if (group_lanes_.has_mixed_blocks()) return sums + vectors + 6;
  return sums + factor_registers(vectors, vector_bytes());
}

double DirectCut::image_bytes() const {
  return sizeof(float) * (shape_.input_elements() + shape_.output_elements());
}

double DirectCut::reread_bytes() const {
  if (tiling_.pixels_outer != 0) return 0;
  return sizeof(float) * shape_.input_elements() * static_cast<double>(oc_blocks() - 1);
}

double DirectCut::input_tile_bytes() const {
  const std::int64_t rows = tiling_.row_tile * tiling_.oh_block;
  const std::int64_t pixels =
      is_flat_ ? rows * tiling_.ow_block
               : ((rows - 1) * shape_.stride_height + shape_.kernel_height) * shape_.in_width;
  return sizeof(float) * static_cast<double>(pixels * shape_.in_channels);
}

double DirectCut::shuffle_cycles(const BlockLanes& block) const {
  if (!group_lanes_.is_permuted()) return 0;  // selecting takes no port that anything waits for
  // Measured on a Zen 5 core beside as many multiply-adds: within 128 bits, of one vector, and of two.
  constexpr double kInUnit = 0.45, kOfOne = 0.6, kOfTwo = 1;
  const std::int64_t units = tiling_.ic_unroll / group_lanes_.unit();
  double cycles = 0;
  for (const VectorLanes& vector : block.vectors) {
    const std::int64_t sources = group_lanes_.sources(vector);
    const double unit = sources == 1 ? kOfOne : kOfTwo * static_cast<double>(sources - 1);
    cycles += unit * static_cast<double>(units) +
              kInUnit * static_cast<double>(tiling_.ic_unroll - units);
  }
  return cycles;
}

std::int64_t DirectCut::input_loads(const BlockLanes& block) const {
  if (!group_lanes_.is_permuted()) return block.groups() * tiling_.ic_unroll;
  std::int64_t loads = 0;
  for (const VectorLanes& vector : block.vectors) loads += group_lanes_.sources(vector);
  return loads;
}

DirectWork DirectCut::work() const {
  DirectWork work;
  const auto unroll = static_cast<double>(tiling_.ic_unroll);
  const double vectors = static_cast<double>(tiling_.oc_vectors);
  for (const RowGroup& group : row_groups()) {
    const double rows = static_cast<double>(group.rows.count);
    const double row_taps =
        tiling_.oh_block == 1 && !is_flat_
            ? static_cast<double>(tap_count(segments(row_axis(), shape_.out_height)[0].taps)) / rows
            : static_cast<double>(tap_count(group.rows.taps));
    for (const AxisSegment& columns : group.columns) {
      const double blocks = rows * static_cast<double>(columns.count);
      const double inputs = row_taps * static_cast<double>(tap_count(columns.taps));
      const double fmas = inputs * vectors;
      const double taps = static_cast<double>(column_axis().kernel) * row_taps /
                          static_cast<double>(group.rows.size);
      for (const BlockLanes& lanes : group_lanes_.kinds()) {
        const double count = blocks * static_cast<double>(lanes.blocks);
        const double loads = inputs * static_cast<double>(input_loads(lanes)) / unroll;
        const double shuffles = inputs * shuffle_cycles(lanes) / unroll;
        work.fmas += count * fmas;
        work.cycles +=
            count * block_cycles(vector_bytes(), fmas, loads, taps * vectors, taps, shuffles);
      }
    }
  }
  const auto channels = static_cast<double>(shape_.batch * shape_.group_in_channels());
  work.fmas *= channels;
  work.cycles *= channels;
  return work;
}

std::int64_t DirectCut::body_fmas() const {
  std::int64_t fmas = 0;
  for (const RowGroup& group : row_groups()) {
    const std::int64_t rows =
        group.rows.size *
        static_cast<std::int64_t>(tap_runs(group.rows.taps, row_axis().kernel).size());
    for (const AxisSegment& columns : group.columns) {
      const auto runs = tap_runs(columns.taps, column_axis().kernel).size();
      fmas += rows * columns.size * static_cast<std::int64_t>(runs);
    }
  }
  std::int64_t vectors = 0;  // a vector that is selected from several groups counts as several
  for (const BlockLanes& block : group_lanes_.kinds())
    for (const VectorLanes& vector : block.vectors)
      vectors += group_lanes_.is_permuted() ? 1 : std::ssize(vector.runs);
  return fmas * vectors * tiling_.ic_unroll * std::min<std::int64_t>(ic_tiles(), 3);
}

std::vector<std::int64_t> legal_oc_vectors(const DirectCut& cut) {
  // Five where lanes go over the borders of groups: 4 groups of 17 channels are as many vectors of 16 lanes.
  const bool has_five = cut.group_lanes().has_mixed_blocks();
  std::vector<std::int64_t> vectors;
  for (const std::int64_t v : {1, 2, 3, 4, 5, 6, 8}) {
    if (v <= cut.out_vectors() && (v != 5 || has_five)) vectors.push_back(v);
  }
  return vectors;
}

std::vector<std::int64_t> legal_ic_unrolls(const ConvShape& shape, Format in, int lanes) {
  if (shape.input_shuffle > 1) return {1};  // neighbours of the sum are none in memory
  const std::int64_t channels = shape.group_in_channels();
  if (is_permuted(shape, in, lanes)) return {channels};
  std::vector<std::int64_t> unrolls;
  for (std::int64_t u = 1; u <= std::min<std::int64_t>(channels, 16); ++u) {
    const bool stays_in_block = in != Format::kNC1HWC0 || lanes % u == 0 ||
                                (shape.groups == 1 && channels == u && u <= lanes);
    if (channels % u == 0 && stays_in_block) unrolls.push_back(u);
  }
  return unrolls;
}

}  // namespace aoe::compiler
