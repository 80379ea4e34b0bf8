// What a Slice takes along each dimension.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "reference/op.h"

namespace aoe::reference {

struct SliceRange {
  std::int64_t start = 0;
  std::int64_t step = 1;
  std::int64_t count = 0;  ///< kUnknownDim where the dimension is
};

/// One for each dimension, those that are not sliced whole; nullopt where bounds are inputs whose values are not known.
std::optional<std::vector<SliceRange>> slice_ranges(const Attrs& attrs, int version,
                                                    std::span<const Tensor> inputs);

}  // namespace aoe::reference
