// The functions of a recurrence's gates, over a row of sums.
#pragma once

#include <string>

#include "reference/recurrent.h"

namespace aoe::native {

/// Sigmoid and tanh of float32 are vectors, as is what clips; anything else is the reference's, element by element.
struct GateFunction {
  std::string name;  ///< in lower case
  reference::Activation scalar;
  double clip = 0;  ///< sums lie within +-clip; 0: anywhere

  void apply(float* x, std::int64_t count) const;
  void apply(double* x, std::int64_t count) const;
};

}  // namespace aoe::native
