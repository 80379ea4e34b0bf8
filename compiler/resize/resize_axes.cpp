// See resize_axes.h.
#include "compiler/resize/resize_axes.h"

#include <algorithm>
#include <limits>

#include "compiler/emit/broadcast_layout.h"

namespace aoe::compiler {
namespace {

AxisTable table_of(const std::vector<reference::ResampledPosition>& positions) {
  AxisTable table;
  for (const auto& p : positions) {
    table.taps = std::max(table.taps, static_cast<std::int64_t>(p.taps.size()));
    table.is_weighted |= p.taps.size() != 1 || p.taps[0].weight != 1;
  }
  for (std::size_t tap = 0; tap < static_cast<std::size_t>(table.taps); ++tap) {
    for (const auto& p : positions) {
      const bool is_there = tap < p.taps.size();
      table.positions.push_back(
          p.taps.empty() ? 0 : static_cast<std::int32_t>(p.taps[is_there ? tap : 0].position));
      table.weights.push_back(is_there ? static_cast<float>(p.taps[tap].weight) : 0.0f);
    }
  }
  return table;
}

/// From here on the table's positions count from where their vector begins. Nothing, and the table as it was, where the
/// outputs of a vector lie too far apart, or fewer than these are `readable` in the row.
std::optional<RowPicks> take_row_picks(AxisTable& table, std::int64_t out, std::int64_t readable,
                                       int lanes) {
  RowPicks picks;
  std::int32_t widest = 0;
  const auto each_of = [&](std::int64_t first, const auto& see) {
    for (std::int64_t tap = 0; tap < table.taps; ++tap)
      for (std::int64_t o = first; o < std::min(first + lanes, out); ++o)
        see(table.positions[static_cast<std::size_t>(tap * out + o)]);
  };
  for (std::int64_t first = 0; first < out; first += lanes) {
    std::int32_t least = std::numeric_limits<std::int32_t>::max(), most = 0;
    each_of(first, [&](std::int32_t& place) {
      least = std::min(least, place);
      most = std::max(most, place);
    });
    picks.begins.push_back(least);
    widest = std::max(widest, most - least + 1);
  }
  picks.reads_two = widest > lanes;
  const std::int64_t last_begin = readable - (picks.reads_two ? 2 * lanes : lanes);
  if (widest > 2 * lanes || last_begin < 0) return {};
  for (std::size_t group = 0; group < picks.begins.size(); ++group) {
    std::int32_t& begin = picks.begins[group];
    begin = std::min(begin, static_cast<std::int32_t>(last_begin));
    each_of(static_cast<std::int64_t>(group) * lanes, [&](std::int32_t& place) { place -= begin; });
  }
  return picks;
}

bool keeps_everything(const AxisTable& table, std::int64_t input) {
  if (table.is_weighted || table.taps != 1) return false;
  if (static_cast<std::int64_t>(table.positions.size()) != input) return false;
  for (std::size_t i = 0; i < table.positions.size(); ++i)
    if (table.positions[i] != static_cast<std::int32_t>(i)) return false;
  return true;
}

std::vector<ResizedDimension> dimensions_of(const Task& task, Format main, int c0) {
  constexpr std::size_t kNhwc[] = {0, 2, 3, 1};
  const Shape in = iteration_extents(task.in(0).shape, main, c0);
  const Shape out = iteration_extents(task.out().shape, main, c0);
  const auto positions = resampled_positions(task);
  std::vector<ResizedDimension> dimensions;
  for (std::size_t d = 0; d < in.size(); ++d) {
    ResizedDimension dimension{.in = in[d], .out = out[d], .table = {}};
    const std::size_t logical = main == Format::kNHWC ? kNhwc[d] : d;
    const bool is_channel = main != Format::kND && (logical == 1 || d == 4);  // C, C1 or C0
    if (!is_channel) {
      AxisTable table = table_of(positions[logical]);
      if (!keeps_everything(table, in[d])) dimension.table = std::move(table);
    }
    if (!dimensions.empty() && !dimension.table && !dimensions.back().table) {
      dimensions.back().in *= in[d];
      dimensions.back().out *= out[d];
    } else {
      dimensions.push_back(std::move(dimension));
    }
  }
  if (dimensions.size() == 1) dimensions.insert(dimensions.begin(), ResizedDimension{});
  for (std::size_t d = dimensions.size() - 1; d-- > 0;) {
    dimensions[d].in_stride = dimensions[d + 1].in_stride * dimensions[d + 1].in;
    dimensions[d].out_stride = dimensions[d + 1].out_stride * dimensions[d + 1].out;
  }
  return dimensions;
}

}  // namespace

ResizeAxes::ResizeAxes(const Task& task, Format main, int lanes)
    : dimensions(dimensions_of(task, main, lanes)) {
  ResizedDimension& innermost = dimensions.back();
  if (!innermost.table) return;
  row_elements = blends_rows() ? std::max<std::int64_t>(innermost.in, 2 * lanes) : innermost.in;
  picks = take_row_picks(*innermost.table, innermost.out, row_elements, lanes);
}

std::int64_t ResizeAxes::taps() const {
  std::int64_t taps = 1;
  for (const ResizedDimension& dimension : dimensions)
    if (dimension.table) taps *= dimension.table->taps;
  return taps;
}

bool ResizeAxes::blends_rows() const {
  return std::any_of(dimensions.begin(), dimensions.end() - 1,
                     [](const ResizedDimension& dimension) {
                       return dimension.table && dimension.table->is_weighted;
                     });
}

std::int64_t ResizeAxes::parallel_extent() const {
  const std::size_t inner = last().table ? 1 : 2;
  std::int64_t extent = 1;
  for (std::size_t d = 0; d + inner < dimensions.size(); ++d) extent *= dimensions[d].out;
  return extent;
}

std::vector<std::vector<reference::ResampledPosition>> resampled_positions(const Task& task) {
  return reference::resize_tables(task.op, task.tensors());
}

bool keeps_dimension(const Task& task, std::size_t dimension) {
  return keeps_everything(table_of(resampled_positions(task)[dimension]),
                          task.in(0).shape[dimension]);
}

}  // namespace aoe::compiler
