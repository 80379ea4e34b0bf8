// How far one result is from another, as every tool of the project states it.
#pragma once

#include "base/tensor.h"

namespace aoe {

/// The largest difference of two float32 tensors of one shape, as a share of the range (largest
/// minus smallest value) of `exact`. 0 for other types; NaN where one of them alone is not a number.
double error_of_range(const Tensor& exact, const Tensor& other);

}  // namespace aoe
