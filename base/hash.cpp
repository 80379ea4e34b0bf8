// MurmurHash3 x64_128 and CRC-32C.
#include "base/hash.h"

#include <nmmintrin.h>

#include <cstring>

namespace aoe {
namespace {

constexpr std::uint64_t kC1 = 0x87c37b91114253d5ULL;
constexpr std::uint64_t kC2 = 0x4cf5ad432745937fULL;

std::uint64_t rotl(std::uint64_t x, int r) {
  return (x << r) | (x >> (64 - r));
}

std::uint64_t final_mix(std::uint64_t k) {
  k ^= k >> 33;
  k *= 0xff51afd7ed558ccdULL;
  k ^= k >> 33;
  k *= 0xc4ceb9fe1a85ec53ULL;
  return k ^ (k >> 33);
}

std::uint64_t mix1(std::uint64_t k) {
  return rotl(k * kC1, 31) * kC2;
}
std::uint64_t mix2(std::uint64_t k) {
  return rotl(k * kC2, 33) * kC1;
}

constexpr std::array<std::uint32_t, 256> make_crc_table() {
  std::array<std::uint32_t, 256> table{};
  for (std::uint32_t i = 0; i < 256; ++i) {
    std::uint32_t c = i;
    for (int bit = 0; bit < 8; ++bit) c = (c & 1) ? 0x82f63b78U ^ (c >> 1) : c >> 1;
    table[i] = c;
  }
  return table;
}
constexpr auto kCrcTable = make_crc_table();

std::uint64_t word_at(const unsigned char* p) {
  std::uint64_t word;
  std::memcpy(&word, p, sizeof word);
  return word;
}

constexpr std::size_t kLaneBytes = 4096;

/// `state` is the inverted checksum, here and below.
std::uint32_t crc32c_by_table(const unsigned char* p, std::size_t size_bytes, std::uint32_t state) {
  for (std::size_t i = 0; i < size_bytes; ++i)
    state = kCrcTable[(state ^ p[i]) & 0xff] ^ (state >> 8);
  return state;
}

__attribute__((target("sse4.2"))) std::uint32_t crc32c_of_words(const unsigned char* p,
                                                                std::size_t size_bytes,
                                                                std::uint32_t state) {
  std::uint64_t wide = state;
  for (; size_bytes >= 8; p += 8, size_bytes -= 8) wide = _mm_crc32_u64(wide, word_at(p));
  state = static_cast<std::uint32_t>(wide);
  for (; size_bytes > 0; ++p, --size_bytes) state = _mm_crc32_u8(state, *p);
  return state;
}

/// What a lane's worth of zeros makes of a state. It is linear over its bits: the sum of what it is of each bit, here of
/// each byte.
class ShiftOverLane {
 public:
  __attribute__((target("sse4.2"))) ShiftOverLane() {
    static constexpr unsigned char kZeros[kLaneBytes] = {};
    for (std::size_t byte = 0; byte < sums_.size(); ++byte)
      for (std::uint32_t bit = 1; bit < 256; bit *= 2) {
        const std::uint32_t shifted = crc32c_of_words(kZeros, kLaneBytes, bit << (8 * byte));
        for (std::uint32_t rest = 0; rest < bit; ++rest)
          sums_[byte][bit + rest] = sums_[byte][rest] ^ shifted;
      }
  }
  std::uint32_t operator()(std::uint32_t state) const {
    return sums_[0][state & 0xff] ^ sums_[1][(state >> 8) & 0xff] ^ sums_[2][(state >> 16) & 0xff] ^
           sums_[3][state >> 24];
  }

 private:
  std::array<std::array<std::uint32_t, 256>, 4> sums_ = {};
};

/// Three lanes side by side, since an instruction of the checksum takes three cycles and one can begin in each: weights
/// are hundreds of megabytes. A lane that began with 0 is appended to the one before it by shifting that over its bytes.
__attribute__((target("sse4.2"))) std::uint32_t crc32c_by_sse42(const unsigned char* p,
                                                                std::size_t size_bytes,
                                                                std::uint32_t state) {
  static const ShiftOverLane shift_over_lane;
  for (; size_bytes >= 3 * kLaneBytes; p += 3 * kLaneBytes, size_bytes -= 3 * kLaneBytes) {
    std::uint64_t first = state, second = 0, third = 0;
    for (std::size_t i = 0; i < kLaneBytes; i += 8) {
      first = _mm_crc32_u64(first, word_at(p + i));
      second = _mm_crc32_u64(second, word_at(p + kLaneBytes + i));
      third = _mm_crc32_u64(third, word_at(p + 2 * kLaneBytes + i));
    }
    const auto two = shift_over_lane(static_cast<std::uint32_t>(first)) ^ second;
    state = shift_over_lane(static_cast<std::uint32_t>(two)) ^ static_cast<std::uint32_t>(third);
  }
  return crc32c_of_words(p, size_bytes, state);
}

}  // namespace

Digest128 hash128(std::string_view bytes, std::uint32_t seed) {
  std::uint64_t h1 = seed;
  std::uint64_t h2 = seed;
  const std::size_t blocks = bytes.size() / 16;
  for (std::size_t i = 0; i < blocks; ++i) {
    std::uint64_t k[2];
    std::memcpy(k, bytes.data() + i * 16, 16);
    h1 = (rotl(h1 ^ mix1(k[0]), 27) + h2) * 5 + 0x52dce729;
    h2 = (rotl(h2 ^ mix2(k[1]), 31) + h1) * 5 + 0x38495ab5;
  }
  std::uint64_t tail[2] = {0, 0};
  const std::size_t rest = bytes.size() % 16;
  if (rest > 0) std::memcpy(tail, bytes.data() + blocks * 16, rest);
  h1 ^= mix1(tail[0]);
  h2 ^= mix2(tail[1]);
  h1 ^= bytes.size();
  h2 ^= bytes.size();
  h1 += h2;
  h2 += h1;
  h1 = final_mix(h1);
  h2 = final_mix(h2);
  h1 += h2;
  h2 += h1;
  return {h1, h2};
}

std::uint32_t crc32c(const void* data, std::size_t size_bytes, std::uint32_t previous) {
  static const bool has_sse42 = __builtin_cpu_supports("sse4.2");
  const auto* p = static_cast<const unsigned char*>(data);
  return has_sse42 ? ~crc32c_by_sse42(p, size_bytes, ~previous)
                   : ~crc32c_by_table(p, size_bytes, ~previous);
}

std::string to_hex(const Digest128& digest) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  for (const std::uint64_t half : {digest.high, digest.low})
    for (int shift = 60; shift >= 0; shift -= 4) text += kDigits[(half >> shift) & 15];
  return text;
}

}  // namespace aoe
