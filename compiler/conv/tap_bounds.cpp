// Run-time bounds of a window's taps; constants where the axis has no padding on that side.
#include "compiler/conv/tap_bounds.h"

namespace aoe::compiler {

Int first_tap(const WindowAxis& axis, Int output) {
  if (axis.pad_begin <= 0) return 0;
  const Int missing = max(Int(axis.pad_begin) - output * axis.stride, 0);
  return min((missing + (axis.dilation - 1)) / axis.dilation, Int(axis.kernel));
}

Int end_tap(const WindowAxis& axis, Int output) {
  const std::int64_t last_start = (axis.output - 1) * axis.stride - axis.pad_begin;
  if (last_start + (axis.kernel - 1) * axis.dilation < axis.input) return axis.kernel;
  const Int available = Int(axis.input - 1 + axis.pad_begin + axis.dilation) - output * axis.stride;
  return min(max(available, 0) / axis.dilation, Int(axis.kernel));
}

}  // namespace aoe::compiler
