// The tables of a Resize or Upsample: where each output position of every axis reads, and with which weights.
#pragma once

#include <span>
#include <vector>

#include "reference/op.h"
#include "reference/windows/resample.h"

namespace aoe::reference {

/// One table per axis of input 0, whose data is not read; scales, sizes and roi must be known. Throws Error(kModel) as the
/// op itself does.
std::vector<std::vector<ResampledPosition>> resize_tables(const OpCall& call,
                                                          std::span<const Tensor> inputs);

}  // namespace aoe::reference
