// Of which lengths of parts so many slices are made up (slice_map.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace aoe::runtime {

/// Parts of one length in a row.
struct SliceTurn {
  std::size_t length = 0;  ///< its number among the lengths
  std::int64_t times = 0;
  bool operator==(const SliceTurn&) const = default;
};

struct SliceParts {
  std::vector<SliceTurn> turns;
  double cost = 0;  ///< in slices' time
};

/// What takes the least time of `lengths`, the longest first, where a part takes as long as it has slices and `part_cost` more. The last
/// part overlaps the one before it, or lies outside and is copied where it is longer than all there is: in place it must not.
SliceParts slice_parts(std::span<const std::int64_t> lengths, std::int64_t slices, double part_cost,
                       bool is_in_place);

}  // namespace aoe::runtime
