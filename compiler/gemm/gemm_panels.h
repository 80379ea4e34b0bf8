// A constant B of a matrix product as its nest reads it.
#pragma once

#include "compiler/gemm/gemm_nest.h"

namespace aoe::compiler {

/// Panel after panel: of each, a row of columns for every step of k, times alpha, zeros beyond the last column and row.
PackedConstant packed_panels(const ConstantPtr& b, const GemmCut& cut);

}  // namespace aoe::compiler
