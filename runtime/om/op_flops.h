// The arithmetic of a step, divided as profiles divide it: products, and all else.
#pragma once

#include <cstdint>

#include "runtime/om/om.h"

namespace aoe::runtime {

struct OpFlops {
  std::uint64_t cube = 0;    ///< sums of products, which other hardware has matrix units for
  std::uint64_t vector = 0;  ///< the rest
};

/// Analytic. An epilogue counts one operation for each element and step, and is vector work; a fused chain with a product
/// in it counts as cube as a whole.
OpFlops flops_of(const Om& om, const OmStep& step);

}  // namespace aoe::runtime
