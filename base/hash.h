// 64- and 128-bit digests of byte strings: stable across machines, runs and versions (they are stored in banks).
// MurmurHash3 x64_128 (public domain algorithm by A. Appleby). Not for security.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

namespace aoe {

struct Digest128 {
  std::uint64_t high = 0;
  std::uint64_t low = 0;
  auto operator<=>(const Digest128&) const = default;
};

Digest128 hash128(std::string_view bytes, std::uint32_t seed = 0);
inline std::uint64_t hash64(std::string_view bytes) {
  return hash128(bytes).high;
}

/// Checksum of file sections (CRC-32C); with SSE4.2 at some 11 GB/s from memory, 27 from L2.
std::uint32_t crc32c(const void* data, std::size_t size_bytes, std::uint32_t previous = 0);

/// 32 lower-case hexadecimal digits.
std::string to_hex(const Digest128& digest);

}  // namespace aoe
