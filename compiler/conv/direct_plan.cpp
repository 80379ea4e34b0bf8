// The arithmetic of a direct convolution's tiling: blocks, groups, waste and expected cycles.
#include <algorithm>
#include <numeric>

#include "compiler/block_cycles.h"
#include "compiler/conv/direct_nest.h"
#include "compiler/integer_math.h"
#include "compiler/schedule_value.h"

namespace aoe::compiler {
namespace {

std::int64_t tap_count(const std::vector<TapRange>& taps) {
  return std::accumulate(taps.begin(), taps.end(), std::int64_t{0},
                         [](std::int64_t sum, const TapRange& t) { return sum + t.end - t.begin; });
}

}  // namespace

DirectTiling DirectTiling::from(const Schedule& s) {
  return {.oc_vectors = schedule_value(s, "oc_vectors", 1),
          .oh_block = schedule_value(s, "oh_block", 1),
          .ow_block = schedule_value(s, "ow_block", 1),
          .ic_unroll = schedule_value(s, "ic_unroll", 1),
          .ic_block = schedule_value(s, "ic_block", 0),
          .row_tile = schedule_value(s, "row_tile", 1),
          .pixels_outer = schedule_value(s, "pixels_outer", 0),
          .prefetch = schedule_value(s, "prefetch", 0)};
}

Schedule DirectTiling::schedule() const {
  return {{"oc_vectors", oc_vectors},     {"oh_block", oh_block}, {"ow_block", ow_block},
          {"ic_unroll", ic_unroll},       {"ic_block", ic_block}, {"row_tile", row_tile},
          {"pixels_outer", pixels_outer}, {"prefetch", prefetch}};
}

DirectPlan::DirectPlan(const ConvShape& shape, Format in, Format out, int lanes,
                       const DirectTiling& tiling, bool may_flatten)
    : shape_(shape),
      in_(in),
      out_(out),
      lanes_(lanes),
      tiling_(tiling),
      is_flat_(may_flatten && shape.is_pointwise()) {
}

WindowAxis DirectPlan::row_axis() const {
  if (is_flat_) {
    const std::int64_t rows = ceil_div(shape_.out_pixels(), tiling_.ow_block);
    return {.in = rows, .out = rows};
  }
  return shape_.row_axis();
}

WindowAxis DirectPlan::column_axis() const {
  if (is_flat_) return {.in = tiling_.ow_block, .out = tiling_.ow_block};
  return shape_.column_axis();
}

std::vector<RowGroup> DirectPlan::row_groups() const {
  const WindowAxis rows = row_axis();
  if (is_flat_) {
    const std::int64_t full = shape_.out_pixels() / tiling_.ow_block;
    const std::int64_t rest = shape_.out_pixels() % tiling_.ow_block;
    const auto columns_of = [](std::int64_t size) {
      return segments({.in = size, .out = size}, size);
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
    return {{{.first = 0, .size = 1, .count = rows.out, .taps = {{0, rows.kernel}}}, columns}};
  }
  std::vector<RowGroup> groups;
  for (AxisSegment& segment : segments(rows, tiling_.oh_block)) {
    groups.push_back({std::move(segment), columns});
  }
  return groups;
}

std::int64_t DirectPlan::row_blocks() const {
  return ceil_div(row_axis().out, tiling_.oh_block);
}
std::int64_t DirectPlan::row_tiles() const {
  return ceil_div(row_blocks(), tiling_.row_tile);
}
std::int64_t DirectPlan::out_vectors() const {
  return ceil_div(shape_.out_channels, lanes_);
}
std::int64_t DirectPlan::oc_blocks() const {
  return ceil_div(out_vectors(), tiling_.oc_vectors);
}

std::int64_t DirectPlan::first_group(std::int64_t oc_block) const {
  return oc_block * block_lanes() / shape_.group_out_channels();
}

std::int64_t DirectPlan::last_group(std::int64_t oc_block) const {
  const std::int64_t end = std::min((oc_block + 1) * block_lanes(), shape_.out_channels);
  return (end - 1) / shape_.group_out_channels();
}

bool DirectPlan::is_group_aligned() const {
  return shape_.groups == 1 || shape_.group_out_channels() % block_lanes() == 0;
}

std::int64_t DirectPlan::max_chunks() const {
  std::int64_t groups = 1;
  for (std::int64_t block = 0; block < oc_blocks(); ++block) {
    groups = std::max(groups, last_group(block) - first_group(block) + 1);
  }
  return groups * shape_.group_in_channels() / tiling_.ic_unroll;
}

std::int64_t DirectPlan::chunks_per_tile() const {
  if (tiling_.ic_block == 0) return max_chunks();
  return std::max<std::int64_t>(1, tiling_.ic_block / tiling_.ic_unroll);
}

std::int64_t DirectPlan::ic_tiles() const {
  return ceil_div(max_chunks(), chunks_per_tile());
}

std::int64_t DirectPlan::weight_elements() const {
  return oc_blocks() * max_chunks() * shape_.kernel_height * shape_.kernel_width *
         tiling_.ic_unroll * block_lanes();
}

std::int64_t DirectPlan::prefetch_elements() const {
  return tiling_.prefetch == 1 ? weight_elements() / oc_blocks() : tiling_.prefetch * lanes_;
}

std::int64_t DirectPlan::parallel_extent() const {
  return shape_.batch * oc_blocks() * row_tiles();
}

std::int64_t DirectPlan::registers() const {
  const std::int64_t pixels = tiling_.oh_block * tiling_.ow_block;
  // Accumulators, a weight vector each, and one broadcast input; a single weight vector takes its
  // input from memory.
  return pixels * tiling_.oc_vectors + tiling_.oc_vectors + (tiling_.oc_vectors > 1 ? 1 : 0);
}

DirectWork DirectPlan::work() const {
  double channels = 0;  // input channels read, summed over the blocks of output vectors
  for (std::int64_t block = 0; block < oc_blocks(); ++block) {
    channels += static_cast<double>((last_group(block) - first_group(block) + 1) *
                                    shape_.group_in_channels());
  }
  DirectWork work;
  for (const RowGroup& group : row_groups()) {
    const double rows = static_cast<double>(group.rows.count);
    const double row_taps =
        tiling_.oh_block == 1 && !is_flat_
            ? static_cast<double>(tap_count(segments(row_axis(), shape_.out_height)[0].taps)) / rows
            : static_cast<double>(tap_count(group.rows.taps));
    for (const AxisSegment& columns : group.columns) {
      const double blocks = rows * static_cast<double>(columns.count);
      const double inputs = row_taps * static_cast<double>(tap_count(columns.taps));
      const double vectors = static_cast<double>(tiling_.oc_vectors);
      const double fmas = inputs * vectors;
      const double taps = static_cast<double>(column_axis().kernel) * row_taps /
                          static_cast<double>(group.rows.size);
      work.fmas += blocks * fmas;
      work.cycles += blocks * block_cycles(fmas, inputs, taps * vectors, taps);
    }
  }
  work.fmas *= channels * static_cast<double>(shape_.batch);
  work.cycles *= channels * static_cast<double>(shape_.batch);
  return work;
}

std::int64_t DirectPlan::body_fmas() const {
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
  return fmas * tiling_.oc_vectors * tiling_.ic_unroll * std::min<std::int64_t>(ic_tiles(), 3);
}

std::vector<std::int64_t> legal_ic_unrolls(const ConvShape& shape, Format in, int lanes) {
  if (shape.input_shuffle > 1) return {1};  // neighbours of the sum are none in memory
  const std::int64_t channels = shape.group_in_channels();
  std::vector<std::int64_t> unrolls;
  for (std::int64_t u = 1; u <= std::min<std::int64_t>(channels, 16); ++u) {
    const bool stays_in_block = in != Format::kNC1HWC0 || lanes % u == 0 ||
                                (shape.groups == 1 && channels == u && u <= lanes);
    if (channels % u == 0 && stays_in_block) unrolls.push_back(u);
  }
  return unrolls;
}

}  // namespace aoe::compiler
