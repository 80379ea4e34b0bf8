// Range: how many numbers, and which.
#pragma once

#include <algorithm>
#include <cmath>
#include <string>

#include "base/size.h"
#include "reference/elements/arithmetic.h"
#include "reference/elements/typed.h"
#include "reference/fail.h"

namespace aoe::reference {

template <typename C>
std::int64_t range_count(C start, C limit, C delta) {
  if (delta == 0) fail_model("delta is 0");
  // In double, unsigned and 64-bit differences neither wrap nor overflow.
  const double span = static_cast<double>(limit) - static_cast<double>(start);
  const double count = std::ceil(span / static_cast<double>(delta));
  if (!(count <= static_cast<double>(kMostBytes)))
    fail_model("the range has " + std::to_string(count) + " elements");
  return static_cast<std::int64_t>(std::max(count, 0.0));
}

/// Elements [begin, end) of a range of T.
template <typename T>
void write_range(const Tensor& start, const Tensor& delta, std::int64_t begin, std::int64_t end,
                 T* to) {
  // In double the error does not grow with the count; integers need all their bits.
  using C = std::conditional_t<kIsFloat<T>, double, T>;
  const C first = read_scalar<C>(start, "start"), step = read_scalar<C>(delta, "delta");
  for (std::int64_t i = begin; i < end; ++i)
    to[i] = convert<T>(add(first, multiply(static_cast<C>(i), step)));
}

}  // namespace aoe::reference
