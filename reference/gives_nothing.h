// Whether a call computes anything at all.
#pragma once

#include <algorithm>
#include <span>

#include "base/tensor.h"

namespace aoe::reference {

/// No output has an element. What operators make beside their results may be as long as a dimension that stands beside one of 0,
/// so that such calls are not to be run.
inline bool gives_nothing(std::span<const Tensor> outputs) {
  return std::ranges::all_of(
      outputs, [](const Tensor& each) { return each.data == nullptr || each.elements() == 0; });
}

}  // namespace aoe::reference
