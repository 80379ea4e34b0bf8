// What each element of a padded tensor is taken from.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "reference/op.h"

namespace aoe::reference {

/// By dimension, for each index of the output the one in the input, or kOutside.
using PlaceTables = std::vector<std::vector<std::int64_t>>;
inline constexpr std::int64_t kOutside = -1;

/// What is put in front of a dimension and behind it; negative: cut off.
struct PadBorder {
  std::int64_t before = 0;
  std::int64_t after = 0;
};

/// Of a PadV3, one per dimension; nullopt when they are an input whose values are not known.
std::optional<std::vector<PadBorder>> pad_borders(const Attrs& attrs, int version,
                                                  std::span<const Tensor> inputs);

struct PadSource {
  PlaceTables places;
  std::uint64_t padding = 0;  ///< the bytes of the element that stands outside
};

/// Of a PadV3 with all values at hand.
PadSource pad_source(const OpContext& ctx);

}  // namespace aoe::reference
