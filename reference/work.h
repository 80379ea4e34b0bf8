// Steps of the reference's inner loops that several operators share: see OpDef::work.
#pragma once

#include <cmath>

#include "reference/op.h"

namespace aoe::reference {

/// Of interpolation, the widest of which reads 64 taps.
inline double interpolation_steps(const CostContext& cost) {
  return 64 * (cost.input_elements(0) + cost.output_elements());
}

/// Of sorting all elements.
inline double sorting_steps(const CostContext& cost) {
  return 8 * cost.input_elements(0) * std::log2(2 + cost.input_elements(0));
}

}  // namespace aoe::reference
