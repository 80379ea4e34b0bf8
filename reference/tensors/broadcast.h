// Numpy broadcasting of shapes: aligned at the last dimension, 1 stretches.
#pragma once

#include <span>

#include "base/tensor.h"
#include "reference/tensors/strided.h"

namespace aoe::reference {

/// The common shape; an unknown dimension against 1 or another unknown one stays unknown, against n
/// > 1 it must be n. Throws Error(kModel) when the shapes do not fit.
Shape broadcast_shapes(const Shape& a, const Shape& b);

/// Strides that read a dense tensor of `shape` as if it had the shape `target`: 0 where it is
/// stretched.
Strides broadcast_strides(const Shape& shape, const Shape& target);

/// Whether `shape` stretches to `target` without changing it.
bool broadcasts_to(const Shape& shape, const Shape& target);

}  // namespace aoe::reference
