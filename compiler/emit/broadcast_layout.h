// BroadcastLayout: how the operands of an elementwise task lie in memory along one common order of
// dimensions, in any Format.
#pragma once

#include <vector>

#include "compiler/emit/strided_nest.h"
#include "compiler/impl.h"

namespace aoe::compiler {

/// The dimensions that an iteration over `shape` in `format` runs through, outermost first: N,C,H,W
/// for NCHW and the shape itself for ND; N,H,W,C for NHWC; N,C1,H,W,C0 for NC1HWC0.
Shape iteration_extents(const Shape& shape, Format format, int c0);

/// Strides of an operand stored in `stored` along the dimensions of an iteration in `format` over
/// `output`; 0 where it is broadcast. In a NC1HWC0 iteration an operand stored otherwise must have
/// one channel, or whole blocks of them.
Shape operand_strides(const Shape& operand, Format stored, const Shape& output, Format format,
                      int c0);

/// Dense strides of `shape`, 0 where a dimension of 1 repeats.
Shape broadcast_strides(const Shape& shape);

/// `shape` with ones in front up to `rank`.
Shape aligned_shape(const Shape& shape, std::size_t rank);

/// A constant laid out in `format`; `shape` is its shape, aligned to four dimensions unless format
/// is ND.
PackedConstant packed_in_format(ConstantPtr constant, const Shape& shape, Format format, int c0);

}  // namespace aoe::compiler
