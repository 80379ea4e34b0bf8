// The one-dimensional transforms of Winograd's F(2,3), F(4,3) and F(6,3), on vectors and for weights.
#pragma once

#include <cstdint>
#include <vector>

#include "compiler/loopnest/loopnest.h"

namespace aoe::compiler {

/// B^T d: m+2 inputs to m+2 values. Results are kept in registers.
std::vector<loopnest::Vec> transform_inputs(loopnest::Builder& builder,
                                            const std::vector<loopnest::Vec>& d);

/// A^T p: m+2 products to m outputs.
std::vector<loopnest::Vec> transform_products(loopnest::Builder& builder,
                                              const std::vector<loopnest::Vec>& p);

/// G: the (m+2) x 3 matrix that weights are multiplied with from both sides.
const std::vector<std::vector<double>>& weight_transform(std::int64_t outputs);

}  // namespace aoe::compiler
