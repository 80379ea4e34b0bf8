// Is a candidate's output right? Compared with the op's reference before its time counts.
#pragma once

#include <span>
#include <string>

#include "base/result.h"
#include "base/tensor.h"

namespace aoe::tuner {

/// How far an output of `dtype` may be from the reference, as a share of the reference's largest
/// magnitude, when each element is a sum of `reduction_length` products. Rounding errors of a sum
/// of n terms grow like sqrt(n); the factor leaves room for the transforms of Winograd convolution,
/// and none for a missing or doubled term.
double tolerance(DataType dtype, double reduction_length);

/// Both dense, same shape. Integers and booleans must be equal. "No" names the first element that
/// is off. `least_tolerance`: allowed in any case, in the measure of tolerance().
Result<void> compare(const Tensor& expected, const Tensor& actual, double reduction_length,
                     double least_tolerance = 0);

}  // namespace aoe::tuner
