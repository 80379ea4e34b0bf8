// Groups output coordinates by which taps of their window lie inside the input.
#include "compiler/conv/pixel_blocks.h"

#include <algorithm>

#include "compiler/emit/integer_math.h"

namespace aoe::compiler {

TapRange taps_inside(const WindowAxis& axis, std::int64_t output) {
  const std::int64_t start = axis.tap(output, 0), last = axis.input - 1;
  TapRange range;
  range.begin = start >= 0 ? 0 : ceil_div(-start, axis.dilation);
  // The number of taps at or before the last input element.
  range.end = start > last ? 0 : (last - start) / axis.dilation + 1;
  range.begin = std::min(range.begin, axis.kernel);
  range.end = std::clamp<std::int64_t>(range.end, range.begin, axis.kernel);
  return range;
}

std::vector<AxisSegment> segments(const WindowAxis& axis, std::int64_t block) {
  std::vector<AxisSegment> result;
  for (std::int64_t first = 0; first < axis.output; first += block) {
    AxisSegment segment{
        .first = first, .size = std::min(block, axis.output - first), .count = 1, .taps = {}};
    for (std::int64_t i = 0; i < segment.size; ++i)
      segment.taps.push_back(taps_inside(axis, first + i));
    if (!result.empty() && result.back().size == segment.size &&
        result.back().taps == segment.taps) {
      ++result.back().count;
    } else {
      result.push_back(std::move(segment));
    }
  }
  return result;
}

std::vector<bool> outputs_with_tap(const std::vector<TapRange>& taps, std::int64_t tap) {
  std::vector<bool> result;
  for (const TapRange& range : taps) result.push_back(range.begin <= tap && tap < range.end);
  return result;
}

std::vector<TapRun> tap_runs(const std::vector<TapRange>& taps, std::int64_t kernel) {
  std::vector<TapRun> runs;
  for (std::int64_t tap = 0; tap < kernel; ++tap) {
    std::vector<bool> outputs = outputs_with_tap(taps, tap);
    if (runs.empty() || runs.back().outputs != outputs)
      runs.push_back({tap, tap, std::move(outputs)});
    runs.back().end = tap + 1;
  }
  return runs;
}

}  // namespace aoe::compiler
