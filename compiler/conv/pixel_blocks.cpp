// Groups output coordinates by which taps of their window lie inside the input.
#include "compiler/conv/pixel_blocks.h"

#include <algorithm>

namespace aoe::compiler {

TapRange WindowAxis::taps(std::int64_t output) const {
  const std::int64_t start = output * stride - pad_begin;
  TapRange range;
  range.begin = start >= 0 ? 0 : (-start + dilation - 1) / dilation;
  // The number of taps at or before the last input element.
  range.end = start > in - 1 ? 0 : (in - 1 - start) / dilation + 1;
  range.begin = std::min(range.begin, kernel);
  range.end = std::clamp<std::int64_t>(range.end, range.begin, kernel);
  return range;
}

std::vector<AxisSegment> segments(const WindowAxis& axis, std::int64_t block) {
  std::vector<AxisSegment> result;
  for (std::int64_t first = 0; first < axis.out; first += block) {
    AxisSegment segment{
        .first = first, .size = std::min(block, axis.out - first), .count = 1, .taps = {}};
    for (std::int64_t i = 0; i < segment.size; ++i) segment.taps.push_back(axis.taps(first + i));
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
