// Cuts the output coordinates of a padded window operator into blocks whose in-range taps are known
// while the code is written, so that no generated code tests for padding and none reads outside its
// buffers.
//
//   One axis of a 3-tap window, pad 1, 8 outputs in blocks of 4:
//     {first 0, size 4, count 1, taps [1,3) [0,3) [0,3) [0,3)}     left edge: output 0 has no tap 0
//     {first 4, size 4, count 1, taps [0,3) [0,3) [0,3) [0,2)}     right edge
#pragma once

#include <cstdint>
#include <vector>

#include "reference/windows/window.h"

namespace aoe::compiler {

using reference::WindowAxis;

/// Taps [begin, end) of a window that fall inside the input; empty when begin >= end.
struct TapRange {
  std::int64_t begin = 0, end = 0;
  bool operator==(const TapRange&) const = default;
};

/// Of window `output`.
TapRange taps_inside(const WindowAxis& axis, std::int64_t output);

/// `count` neighbouring blocks of `size` outputs each, starting at `first`; output i of every block
/// has `taps[i]`.
struct AxisSegment {
  std::int64_t first = 0, size = 1, count = 1;
  std::vector<TapRange> taps;
  std::int64_t end() const { return first + size * count; }
};

/// All outputs of the axis in order, in blocks of `block` (the last may be smaller), neighbours
/// with equal taps joined.
std::vector<AxisSegment> segments(const WindowAxis& axis, std::int64_t block);

/// Which outputs of a block have tap `tap`.
std::vector<bool> outputs_with_tap(const std::vector<TapRange>& taps, std::int64_t tap);

/// Neighbouring taps [first, end) that the same outputs of a block have, so that one loop can run over them.
struct TapRun {
  std::int64_t first = 0, end = 0;
  std::vector<bool> outputs;
};
std::vector<TapRun> tap_runs(const std::vector<TapRange>& taps, std::int64_t kernel);

}  // namespace aoe::compiler
