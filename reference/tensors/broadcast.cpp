// Numpy broadcasting of shapes.
#include "reference/tensors/broadcast.h"

#include <algorithm>

#include "base/check.h"
#include "reference/fail.h"

namespace aoe::reference {
namespace {

std::int64_t broadcast_dim(std::int64_t a, std::int64_t b) {
  if (a == b || b == 1) return a;
  if (a == 1) return b;
  if (a == kUnknownDim) return b;
  if (b == kUnknownDim) return a;
  return -2;
}

}  // namespace

Shape broadcast_shapes(const Shape& a, const Shape& b) {
  const Shape& longer = a.size() >= b.size() ? a : b;
  const Shape& shorter = a.size() >= b.size() ? b : a;
  const std::size_t lead = longer.size() - shorter.size();
  Shape result = longer;
  for (std::size_t d = 0; d < shorter.size(); ++d) {
    result[lead + d] = broadcast_dim(longer[lead + d], shorter[d]);
    if (result[lead + d] == -2)
      fail_model("shapes " + to_string(a) + " and " + to_string(b) + " do not broadcast");
  }
  return result;
}

Strides broadcast_strides(const Shape& shape, const Shape& target) {
  AOE_CHECK(shape.size() <= target.size(), to_string(shape) + " to " + to_string(target));
  const std::size_t lead = target.size() - shape.size();
  const Strides own = dense_strides(shape);
  Strides strides(target.size(), 0);
  for (std::size_t d = 0; d < shape.size(); ++d) {
    if (shape[d] != 1) strides[lead + d] = own[d];
  }
  return strides;
}

bool broadcasts_to(const Shape& shape, const Shape& target) {
  if (shape.size() > target.size()) return false;
  const std::size_t lead = target.size() - shape.size();
  for (std::size_t d = 0; d < shape.size(); ++d) {
    const std::int64_t from = shape[d];
    const std::int64_t to = target[lead + d];
    if (from != to && from != 1 && from != kUnknownDim && to != kUnknownDim) return false;
  }
  return true;
}

}  // namespace aoe::reference
