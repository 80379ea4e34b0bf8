// How long the parts of a Split are, those that nobody wants with them.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "reference/op.h"

namespace aoe::reference {

/// Along the axis, of `dim`: as given (attribute before opset 13, input since), else equal parts, the last one smaller if
/// 'num_outputs' (opset 18) says so. nullopt when they are an input whose values are not known.
std::optional<std::vector<std::int64_t>> split_sizes(const Attrs& attrs, int version,
                                                     std::span<const Tensor> inputs,
                                                     std::int64_t dim, std::size_t outputs);

}  // namespace aoe::reference
