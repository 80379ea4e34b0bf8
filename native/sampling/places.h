// Tensors whose elements are taken from another by a table for each axis: padding, enlarging to the nearest.
#pragma once

#include <cstdint>

#include "base/tensor.h"
#include "native/threads.h"
#include "reference/tensors/pad.h"

namespace aoe::native {

/// to[i, j, ...] = from[places[0][i], places[1][j], ...], and `padding` where one of them is kOutside: its leading bytes, as
/// many as an element has. Both are dense.
void take_places(const reference::PlaceTables& places, std::uint64_t padding, const Tensor& from,
                 const Tensor& to, Threads& threads);

}  // namespace aoe::native
