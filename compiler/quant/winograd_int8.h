// Winograd's convolution F(4x4, 3x3) of bytes in whole numbers, which gives the direct algorithm's sums bit for bit: why it may is said in
// compiler/conv/winograd_transforms.h. The machine's products of int16 pairs take half as many factors as those of byte
// quads (without VNNI as many), and there are a quarter as many of them.
#pragma once

#include "compiler/conv/winograd_nest.h"

namespace aoe::compiler {

/// Of a QuantConv2D whose sums stay small enough; the reason why not otherwise.
Result<void> supports_winograd_int8(const Task& task, WinogradSize size);

WinogradBytes winograd_int8_constants(const Task& task, const WinogradCut& cut);

}  // namespace aoe::compiler
