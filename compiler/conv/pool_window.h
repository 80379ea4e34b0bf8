// PoolWindow: the geometry of a two-dimensional pool, and which of a window's taps fall on the
// input.
#pragma once

#include <cstdint>
#include <utility>

#include "base/result.h"
#include "compiler/conv/pixel_blocks.h"
#include "compiler/task.h"
#include "reference/windows/window.h"

namespace aoe::compiler {

struct PoolWindow {
  reference::Window window;
  bool is_max = true;
  bool counts_padding = false;  ///< averages divide by the taps in the explicit padding too

  const reference::WindowAxis& height() const { return window.height(); }
  const reference::WindowAxis& width() const { return window.width(); }
};

/// Of a MaxPoolV3 or AvgPoolV2 with two spatial axes (or one: the height is then 1).
Result<PoolWindow> pool_window(const Task& task);

/// Some window lies in the padding as a whole.
bool has_empty_window(const PoolWindow& window);
/// Taps that fall on the input, of the windows beside interior_columns().
std::int64_t edge_taps(const reference::WindowAxis& axis);
/// The windows [first, second) that lie inside the input with all their taps; (n, n) when there are
/// none.
std::pair<std::int64_t, std::int64_t> interior_columns(const reference::WindowAxis& axis);

}  // namespace aoe::compiler
