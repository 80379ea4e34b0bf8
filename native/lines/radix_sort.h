// Sorts lists whose keys are integers, a byte of the key at a time: long ones take a tenth of what comparing does.
#pragma once

#include <array>
#include <type_traits>
#include <utility>
#include <vector>

#include "native/lines/sort_key.h"

namespace aoe::native {

/// Entries in the order of their places come out in the order of SortEntry. `room` is of the caller's to be used again.
template <typename Key>
void radix_sort(std::vector<SortEntry<Key>>& entries, std::vector<SortEntry<Key>>& room) {
  using Bits = std::make_unsigned_t<Key>;
  constexpr Bits kSign = Bits{1} << (8 * sizeof(Key) - 1);  // negative keys come first
  const auto digit_of = [](Key key, std::size_t byte) {
    return ((static_cast<Bits>(key) ^ kSign) >> (8 * byte)) & 0xff;
  };
  std::array<std::array<std::size_t, 256>, sizeof(Key)> counts{};
  for (const auto& entry : entries)
    for (std::size_t byte = 0; byte < sizeof(Key); ++byte)
      ++counts[byte][digit_of(entry.key, byte)];
  room.resize(entries.size());
  for (std::size_t byte = 0; byte < sizeof(Key); ++byte) {
    std::array<std::size_t, 256>& begins = counts[byte];
    if (!entries.empty() && begins[digit_of(entries.front().key, byte)] == entries.size())
      continue;  // they differ elsewhere
    std::size_t before = 0;
    for (std::size_t& begin : begins) before += std::exchange(begin, before);
    for (const auto& entry : entries) room[begins[digit_of(entry.key, byte)]++] = entry;
    entries.swap(room);
  }
}

}  // namespace aoe::native
