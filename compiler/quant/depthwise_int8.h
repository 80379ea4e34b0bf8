// A depthwise convolution of bytes: of unsigned ones, and weights whose zero point is the middle of their range, by dot products of
// four neighbouring pixels, where the machine has them; else in float32, which holds the whole number that every sum of so few products is.
#pragma once

#include "compiler/conv/depthwise_nest.h"

namespace aoe::compiler {

/// Of a QuantConv2D of one channel per group; the reason why not otherwise.
Result<void> supports_depthwise_int8(const Task& task, const ConvShape& shape);

/// Of a task that is supported.
DepthwiseFactors depthwise_int8_factors(const Task& task, const ConvShape& shape, const Soc& soc);

DepthwiseConstants depthwise_int8_constants(const Task& task, const DepthwiseCut& cut);

}  // namespace aoe::compiler
