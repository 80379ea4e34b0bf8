// See softmax_view.h.
#include "compiler/softmax_view.h"

namespace aoe::compiler {
namespace {

constexpr int kSingleAxisVersion = 13;

}  // namespace

reference::AxisView softmax_view(const Task& task) {
  const Shape& shape = task.in(0).shape;
  if (task.op.version >= kSingleAxisVersion) {
    const std::int64_t axis = task.op.attrs.get_int("axis", -1);
    return reference::view_axis(shape, reference::normalize_axis(axis, shape.size()));
  }
  const std::int64_t axis = task.op.attrs.get_int("axis", 1);
  const std::size_t split = axis == static_cast<std::int64_t>(shape.size())
                                ? shape.size()
                                : reference::normalize_axis(axis, shape.size());
  return {reference::dim_product(shape, 0, split),
          reference::dim_product(shape, split, shape.size()), 1};
}

}  // namespace aoe::compiler
