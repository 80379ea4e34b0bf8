// The one-dimensional transforms of Winograd's F(m,r) with m + r - 1 = 4, 6 or 8 inputs, on vectors and for weights.
#pragma once

#include <cstdint>
#include <vector>

#include "compiler/loopnest/loopnest.h"

namespace aoe::compiler {

/// B^T d: as many values as inputs, whatever m and r. Results are kept in registers.
std::vector<loopnest::Vec> transform_inputs(loopnest::Builder& builder,
                                            const std::vector<loopnest::Vec>& d);

/// A^T p: the products to `outputs` outputs.
std::vector<loopnest::Vec> transform_products(loopnest::Builder& builder,
                                              const std::vector<loopnest::Vec>& p,
                                              std::int64_t outputs);

/// G: the `inputs` x `taps` matrix that weights are multiplied with from both sides.
std::vector<std::vector<double>> weight_transform(std::int64_t inputs, std::int64_t taps);

}  // namespace aoe::compiler
