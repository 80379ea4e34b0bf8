// Axes: negative ones made positive and checked, and a shape seen as outer x axis x inner.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/tensor.h"
#include "reference/attrs.h"

namespace aoe::reference {

/// In [0, rank); throws Error(kModel) when outside [-rank, rank).
std::size_t normalize_axis(std::int64_t axis, std::size_t rank);

/// Each normalised, ascending; throws Error(kModel) on a repeated axis.
std::vector<std::size_t> normalize_axes(const std::vector<std::int64_t>& axes, std::size_t rank);

/// A dense tensor as outer x dim x inner around one axis.
struct AxisView {
  std::int64_t outer = 1;
  std::int64_t dim = 1;
  std::int64_t inner = 1;
};
AxisView view_axis(const Shape& shape, std::size_t axis);
/// The opset since which a SoftmaxV2 is along one axis; before, all axes from `axis` on were one.
inline constexpr int kSingleAxisVersion = 13;
/// Of a SoftmaxV2, LogSoftmaxV2 or HardMax.
AxisView softmax_view(const Attrs& attrs, int version, const Shape& shape);

/// Throws Error(kModel) unless a one-dimensional parameter named `what` has `count` elements; unknown ones pass.
void check_vector(const Shape& shape, std::int64_t count, const std::string& what);

/// Throws Error(kModel) unless shapes of one rank agree in all dimensions that are known in both; `what` names the first.
void check_same_shape(const Shape& shape, const Shape& needed, const std::string& what);

/// Throws Error(kModel) when one of them is negative; `what` names them ("repeats").
void check_not_negative(const std::vector<std::int64_t>& values, const std::string& what);

/// Product of dims [begin, end); kUnknownDim if one of them is unknown.
std::int64_t dim_product(const Shape& shape, std::size_t begin, std::size_t end);

}  // namespace aoe::reference
