// See pool_window.h.
#include "compiler/conv/pool_window.h"

#include <algorithm>

namespace aoe::compiler {

Result<PoolWindow> pool_window(const Task& task) {
  const Shape& shape = task.in(0).shape;
  const std::size_t rank = shape.size();
  if (rank != 3 && rank != 4) return Unexpected("pools an input of shape " + aoe::to_string(shape));
  return PoolWindow{.window = reference::window_of(task.op.type, task.op.attrs, shape).value(),
                    .is_max = task.op.type == "MaxPoolV3",
                    .counts_padding = task.op.attrs.get_int("count_include_pad", 0) != 0};
}

bool has_empty_window(const PoolWindow& window) {
  const auto has_empty = [](const reference::WindowAxis& axis) {
    for (std::int64_t o = 0; o < axis.output; ++o) {
      const TapRange inside = taps_inside(axis, o);
      if (inside.begin >= inside.end) return true;
    }
    return false;
  };
  return has_empty(window.height()) || has_empty(window.width());
}

std::pair<std::int64_t, std::int64_t> interior_columns(const reference::WindowAxis& axis) {
  const auto is_whole = [&](std::int64_t o) {
    return axis.tap(o, 0) >= 0 && axis.tap(o, axis.kernel - 1) < axis.input;
  };
  std::int64_t first = 0;
  while (first < axis.output && !is_whole(first)) ++first;
  std::int64_t last = first;
  while (last < axis.output && is_whole(last)) ++last;
  return {first, last};
}

std::int64_t edge_taps(const reference::WindowAxis& axis) {
  const auto [first, last] = interior_columns(axis);
  std::int64_t taps = 0;
  for (std::int64_t o = 0; o < axis.output; ++o) {
    const TapRange inside = taps_inside(axis, o);
    if (o < first || o >= last) taps += std::max<std::int64_t>(0, inside.end - inside.begin);
  }
  return taps;
}

}  // namespace aoe::compiler
