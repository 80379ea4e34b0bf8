// A depthwise convolution of bytes in float32: every sum of so few products is a whole number that float32 holds exactly.
#pragma once

#include "compiler/conv/depthwise_nest.h"

namespace aoe::compiler {

/// Of a QuantConv2D of one channel per group; the reason why not otherwise.
Result<void> supports_depthwise_int8(const Task& task, const ConvShape& shape);

DepthwiseConstants depthwise_int8_constants(const Task& task, const DepthwiseCut& cut);

}  // namespace aoe::compiler
