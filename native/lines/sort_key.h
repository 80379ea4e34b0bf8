// Elements as integers that sort like them.
#pragma once

#include <bit>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "reference/elements/float16.h"

namespace aoe::native {

/// Of 32 bits with a sign, or 64 where the element has so many. -0 is equal to 0, NaN above all and equal to itself.
template <typename T>
auto sort_key(T value) {
  if constexpr (std::is_same_v<T, reference::Float16> || std::is_same_v<T, reference::BFloat16>) {
    return sort_key(static_cast<float>(value));
  } else if constexpr (std::is_floating_point_v<T>) {
    // Of integers alone: with a branch on NaN a loop would not become one of vectors.
    using Int = std::conditional_t<sizeof(T) == 4, std::int32_t, std::int64_t>;
    constexpr Int kLargest = std::numeric_limits<Int>::max();
    const Int bits = std::bit_cast<Int>(value);
    const Int signed_key = bits ^ (bits >> (8 * sizeof(T) - 1) & kLargest);
    const Int key = signed_key == -1 ? 0 : signed_key;  // that of -0
    constexpr Int kInfinity = std::bit_cast<Int>(std::numeric_limits<T>::infinity());
    return (bits & kLargest) > kInfinity ? kLargest : key;
  } else if constexpr (std::is_same_v<T, std::uint64_t>) {
    return static_cast<std::int64_t>(value ^ std::uint64_t{1} << 63);
  } else if constexpr (std::is_same_v<T, std::uint32_t>) {
    return static_cast<std::int32_t>(value ^ 0x80000000u);
  } else if constexpr (sizeof(T) == 8) {
    return static_cast<std::int64_t>(value);
  } else {
    return static_cast<std::int32_t>(value);
  }
}

/// An element of a list. The smaller one comes first; of equal ones the one that stands first.
template <typename Key>
struct SortEntry {
  Key key;
  std::int64_t place;
  bool operator<(const SortEntry& other) const {
    return key != other.key ? key < other.key : place < other.place;
  }
};

}  // namespace aoe::native
