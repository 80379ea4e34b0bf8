// Axes: normalising and splitting.
#include "reference/tensors/axes.h"

#include <algorithm>

#include "reference/fail.h"

namespace aoe::reference {

std::size_t normalize_axis(std::int64_t axis, std::size_t rank) {
  const auto signed_rank = static_cast<std::int64_t>(rank);
  if (axis < -signed_rank || axis >= signed_rank)
    fail_model("axis " + std::to_string(axis) + " is outside a tensor of rank " +
               std::to_string(rank));
  return static_cast<std::size_t>(axis < 0 ? axis + signed_rank : axis);
}

std::vector<std::size_t> normalize_axes(const std::vector<std::int64_t>& axes, std::size_t rank) {
  std::vector<std::size_t> result;
  result.reserve(axes.size());
  for (const std::int64_t axis : axes) result.push_back(normalize_axis(axis, rank));
  std::sort(result.begin(), result.end());
  const auto repeated = std::adjacent_find(result.begin(), result.end());
  if (repeated != result.end()) fail_model("axis " + std::to_string(*repeated) + " is given twice");
  return result;
}

AxisView view_axis(const Shape& shape, std::size_t axis) {
  return {dim_product(shape, 0, axis), shape[axis], dim_product(shape, axis + 1, shape.size())};
}

AxisView softmax_view(const Attrs& attrs, int version, const Shape& shape) {
  if (version >= kSingleAxisVersion)
    return view_axis(shape, normalize_axis(attrs.get_int("axis", -1), shape.size()));
  const std::int64_t axis = attrs.get_int("axis", 1);
  // Flattening behind the last axis is legal: then every element stands alone.
  const bool is_behind = axis == static_cast<std::int64_t>(shape.size());
  const std::size_t split = is_behind ? shape.size() : normalize_axis(axis, shape.size());
  return {dim_product(shape, 0, split), dim_product(shape, split, shape.size()), 1};
}

void check_vector(const Shape& shape, std::int64_t count, const std::string& what) {
  const bool fits =
      shape.size() == 1 && (shape[0] == count || shape[0] == kUnknownDim || count == kUnknownDim);
  if (!fits) {
    fail_model(what + " has shape " + to_string(shape) + ", needs " + to_string(Shape{count}));
  }
}

void check_same_shape(const Shape& shape, const Shape& needed, const std::string& what) {
  bool fits = shape.size() == needed.size();
  for (std::size_t i = 0; fits && i < shape.size(); ++i)
    fits = shape[i] == needed[i] || shape[i] < 0 || needed[i] < 0;  // unknown ones may still fit
  if (!fits) fail_model(what + " has shape " + to_string(shape) + ", needs " + to_string(needed));
}

void check_not_negative(const std::vector<std::int64_t>& values, const std::string& what) {
  for (const std::int64_t value : values)
    if (value < 0) fail_model(what + " hold " + std::to_string(value) + ", need at least 0");
}

std::int64_t dim_product(const Shape& shape, std::size_t begin, std::size_t end) {
  return element_count(Shape(shape.begin() + static_cast<std::ptrdiff_t>(begin),
                             shape.begin() + static_cast<std::ptrdiff_t>(end)));
}

}  // namespace aoe::reference
