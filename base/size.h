// Sizes of tensors, checked: no product or sum of dimensions wraps around, and nothing is larger than 2^48 bytes, which
// is what a process can address. element_count() and storage_bytes() of base/tensor.h keep to it, too.
#pragma once

#include <cstdint>
#include <string>

#include "base/tensor.h"

namespace aoe {

inline constexpr std::int64_t kMostBytes = std::int64_t{1} << 48;

/// Of two dimensions; kUnknownDim when one of them is unknown. Throws Error(kModel) when either or the result is beyond
/// +-kMostBytes.
std::int64_t checked_product(std::int64_t a, std::int64_t b);
/// Of two numbers, which may be negative, as pads are. Throws like checked_product().
std::int64_t checked_sum(std::int64_t a, std::int64_t b);

inline constexpr std::size_t kMostRank =
    64;  ///< models have up to 8 dimensions, fused copies twice as many

/// Throws Error(kModel) when there are more than kMostRank dimensions, when a dimension is neither a count nor kUnknownDim, or when the tensor takes more than
/// kMostBytes, unknown dimensions counted as 1 and those of no elements as well. `where` names the tensor.
void check_size(const TensorDesc& desc, const std::string& where);

}  // namespace aoe
