// Packs the constant weights and biases of convolutions for the generated kernels.
#pragma once

#include "compiler/conv/direct_nest.h"

namespace aoe::compiler {

/// [oc_block][kh][kw][step of the sum][oc_vectors * lanes]; zeros beyond the last channel. Which input channel a step
/// is: GroupLanes::channel().
PackedConstant pack_direct_weights(const Task& task, const DirectCut& cut);

/// `elements` floats: the bias by output channel, then zeros. All zeros when the convolution has
/// none.
PackedConstant pack_bias(const Task& task, const ConvShape& shape, std::int64_t elements);

}  // namespace aoe::compiler
