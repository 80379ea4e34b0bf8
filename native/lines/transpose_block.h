// Rows that become columns, by permutations of vectors.
#pragma once

#include <cstdint>

#include "native/wide.h"

namespace aoe::native {

/// to[i][j] = from[j][i] of eight by eight, of any four bytes.
template <typename T>
AOE_WIDE inline void transpose_block(const T* from, std::int64_t stride, T* to,
                                     std::int64_t to_stride) {
  static_assert(sizeof(T) == sizeof(float));
  using Loose = Lanes<float>::Loose;  // which may alias
  Floats pairs[kFloats], fours[kFloats];
  for (std::int64_t j = 0; j < kFloats; j += 2) {
    const Floats a = *reinterpret_cast<const Loose*>(from + j * stride),
                 b = *reinterpret_cast<const Loose*>(from + (j + 1) * stride);
    pairs[j] = __builtin_shufflevector(a, b, 0, 8, 1, 9, 4, 12, 5, 13);
    pairs[j + 1] = __builtin_shufflevector(a, b, 2, 10, 3, 11, 6, 14, 7, 15);
  }
  for (std::int64_t j = 0; j < kFloats; j += 4)
    for (std::int64_t k = 0; k < 2; ++k) {
      const Floats a = pairs[j + k], b = pairs[j + 2 + k];
      fours[j + 2 * k] = __builtin_shufflevector(a, b, 0, 1, 8, 9, 4, 5, 12, 13);
      fours[j + 2 * k + 1] = __builtin_shufflevector(a, b, 2, 3, 10, 11, 6, 7, 14, 15);
    }
  for (std::int64_t i = 0; i < 4; ++i) {
    const Floats a = fours[i], b = fours[i + 4];
    *reinterpret_cast<Loose*>(to + i * to_stride) =
        __builtin_shufflevector(a, b, 0, 1, 2, 3, 8, 9, 10, 11);
    *reinterpret_cast<Loose*>(to + (i + 4) * to_stride) =
        __builtin_shufflevector(a, b, 4, 5, 6, 7, 12, 13, 14, 15);
  }
}

/// The same of 16 by 16 bytes, or 8 by 8 of two bytes: rows that are half of all apart are interleaved, until each is a column.
template <typename T>
AOE_WIDE inline void transpose_small_block(const T* from, std::int64_t stride, T* to,
                                           std::int64_t to_stride) {
  constexpr std::int64_t kBytes = 16, kCount = kBytes / sizeof(T), kHalf = kCount / 2;
  static_assert(sizeof(T) <= 2);
  using Row __attribute__((vector_size(kBytes))) = T;
  using Loose __attribute__((vector_size(kBytes), aligned(alignof(T)), may_alias)) = T;
  Row rows[kCount], mixed[kCount];
  for (std::int64_t j = 0; j < kCount; ++j)
    rows[j] = *reinterpret_cast<const Loose*>(from + j * stride);
  for (std::int64_t done = 1; done < kCount; done *= 2) {
    for (std::int64_t j = 0; j < kHalf; ++j) {
      const Row a = rows[j], b = rows[j + kHalf];
      if constexpr (sizeof(T) == 1) {
        mixed[2 * j] =
            __builtin_shufflevector(a, b, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
        mixed[2 * j + 1] = __builtin_shufflevector(a, b, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13,
                                                   29, 14, 30, 15, 31);
      } else {
        mixed[2 * j] = __builtin_shufflevector(a, b, 0, 8, 1, 9, 2, 10, 3, 11);
        mixed[2 * j + 1] = __builtin_shufflevector(a, b, 4, 12, 5, 13, 6, 14, 7, 15);
      }
    }
    for (std::int64_t j = 0; j < kCount; ++j) rows[j] = mixed[j];
  }
  for (std::int64_t i = 0; i < kCount; ++i) *reinterpret_cast<Loose*>(to + i * to_stride) = rows[i];
}

}  // namespace aoe::native
