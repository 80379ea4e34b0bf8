// StridedView: a value as a strided piece of another value's memory: what Transposes, Reshapes, Slices and the like
// amount to when a kernel reads with strides instead of their copies. Internal to graph/.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "graph/graph.h"

namespace aoe::graph {

/// `extent` steps of `stride` elements; a stride of 0 repeats.
struct Factor {
  std::int64_t extent = 1, stride = 0;
  bool operator==(const Factor&) const = default;
};
/// A dimension as nested steps, outermost first, without those of extent 1: none for a dimension of 1, two for heads
/// that stand beside each other in one dimension but not in memory.
using ViewAxis = std::vector<Factor>;

struct StridedView {
  ValueId root = kNone;  ///< whose row-major elements are read
  std::int64_t offset = 0;
  std::vector<ViewAxis> axes;  ///< by dimension of the viewed value
  double scale = 1;            ///< that the elements are multiplied with
};

/// The value itself. Its shape must be static.
StridedView dense_view(const Graph& graph, ValueId value);

/// Looks through Transpose, Reshape, Slice, SplitV, GatherV2 of one index and Expand, and with `through_scale` also
/// through products and quotients with a scalar, as far as strides can tell; never beyond `stop`.
StridedView view_through(const Graph& graph, ValueId value, bool through_scale,
                         ValueId stop = kNone);

/// Steps in the order of memory, cut into dimensions of `shape`; nothing when steps would have to be torn apart unevenly.
std::optional<std::vector<ViewAxis>> regroup(const ViewAxis& steps, const Shape& shape);
/// All axes behind each other.
ViewAxis flatten(const std::vector<ViewAxis>& axes);
/// Joins neighbours that step as one.
ViewAxis merged(const ViewAxis& axis);

}  // namespace aoe::graph
