// Is a candidate's output right? Compared with the op's reference before its time counts.
#pragma once

#include <span>
#include <string>

#include "base/result.h"
#include "base/tensor.h"

namespace aoe::tuner {

/// What a candidate computes, as far as it says how right it can be.
struct Rounding {
  double reduction_length = 1;  ///< each element is a sum of so many products
  double error_growth = 1;      ///< as its Impl states it (Impl::error_growth())
  double least_tolerance = 0;   ///< allowed in any case, in the measure of tolerance()
};

/// How far an output of `dtype` may be from the reference, as a share of the reference's largest
/// magnitude. Rounding errors of a sum of n terms grow like sqrt(n); a missing or doubled term is more.
double tolerance(DataType dtype, const Rounding& rounding);

/// Both dense, same shape. Integers and booleans must be equal. "No" names the first element that
/// is off.
Result<void> compare(const Tensor& expected, const Tensor& actual, const Rounding& rounding);

}  // namespace aoe::tuner
