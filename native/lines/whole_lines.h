// What a line of numbers comes to, by whole vectors: its largest, its smallest, its sum. Inlined, as an optional number
// that a call returns goes through memory in pieces.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>

#include "native/wide.h"

namespace aoe::native {

/// The largest of a line of 16 to some hundred bytes, or the smallest: halves of a vector are compared until one byte is left.
template <bool kIsLargest, typename T>
[[gnu::always_inline]] AOE_WIDE inline std::optional<T> extreme_of_bytes(const T* x,
                                                                         std::int64_t count) {
  constexpr std::int64_t kCount = 16, kLong = 192;
  if (count < kCount || count >= kLong) return {};
  using Vector __attribute__((vector_size(kCount))) = T;
  using Loose __attribute__((vector_size(kCount), aligned(1), may_alias)) = T;
  Vector best = *reinterpret_cast<const Loose*>(x + count - kCount), other = best;
  for (std::int64_t i = 0; i + kCount <= count; i += kCount) {
    other = *reinterpret_cast<const Loose*>(x + i);
    best = (kIsLargest ? best > other : best < other) ? best : other;
  }
  other = __builtin_shufflevector(best, best, 8, 9, 10, 11, 12, 13, 14, 15, 8, 9, 10, 11, 12, 13,
                                  14, 15);
  best = (kIsLargest ? best > other : best < other) ? best : other;
  other = __builtin_shufflevector(best, best, 4, 5, 6, 7, 4, 5, 6, 7, 4, 5, 6, 7, 4, 5, 6, 7);
  best = (kIsLargest ? best > other : best < other) ? best : other;
  other = __builtin_shufflevector(best, best, 2, 3, 2, 3, 2, 3, 2, 3, 2, 3, 2, 3, 2, 3, 2, 3);
  best = (kIsLargest ? best > other : best < other) ? best : other;
  return kIsLargest ? std::max<T>(best[0], best[1]) : std::min<T>(best[0], best[1]);
}

/// The largest of a line, or the smallest, of whole vectors: the last one overlaps the one before. Nothing of lines that fill none, of
/// those with NaN, which step() knows about.
template <bool kIsLargest, typename T>
[[gnu::always_inline]] AOE_WIDE inline std::optional<T> extreme_of_numbers(const T* x,
                                                                           std::int64_t count) {
  using Vector = typename Lanes<T>::Vector;
  constexpr std::int64_t kCount = Lanes<T>::kCount;
  if (count < kCount) return {};
  const auto* const last = reinterpret_cast<const typename Lanes<T>::Loose*>(x + count - kCount);
  Vector best = *last;
  auto is_number = best == best;
  for (std::int64_t i = 0; i + kCount <= count; i += kCount) {
    const Vector next = *reinterpret_cast<const typename Lanes<T>::Loose*>(x + i);
    is_number &= next == next;
    best = (kIsLargest ? best > next : best < next) ? best : next;
  }
  // Halves are compared until two numbers are left.
  if constexpr (kCount == 8) {
    const Vector half = __builtin_shufflevector(best, best, 4, 5, 6, 7, 4, 5, 6, 7);
    best = (kIsLargest ? best > half : best < half) ? best : half;
    is_number &= __builtin_shufflevector(is_number, is_number, 4, 5, 6, 7, 4, 5, 6, 7);
    is_number &= __builtin_shufflevector(is_number, is_number, 2, 3, 2, 3, 2, 3, 2, 3);
    const Vector quarter = __builtin_shufflevector(best, best, 2, 3, 2, 3, 2, 3, 2, 3);
    best = (kIsLargest ? best > quarter : best < quarter) ? best : quarter;
  } else {
    static_assert(kCount == 4);
    const Vector half = __builtin_shufflevector(best, best, 2, 3, 2, 3);
    best = (kIsLargest ? best > half : best < half) ? best : half;
    is_number &= __builtin_shufflevector(is_number, is_number, 2, 3, 2, 3);
  }
  const T end = (kIsLargest ? best[0] > best[1] : best[0] < best[1]) ? best[0] : best[1];
  const bool are_numbers = (is_number[0] & is_number[1]) != 0;
  return are_numbers ? std::optional<T>(end) : std::nullopt;
}

/// Of either. Nothing of long lines of bytes as well, which loops over many vectors are faster with.
template <bool kIsLargest, typename T>
[[gnu::always_inline]] AOE_WIDE inline std::optional<T> extreme_of_line(const T* x,
                                                                        std::int64_t count) {
  if constexpr (sizeof(T) == 1)
    return extreme_of_bytes<kIsLargest>(x, count);
  else
    return extreme_of_numbers<kIsLargest>(x, count);
}

/// Sums of float32 in vectors of it, of which each lane adds up to 64 numbers before double takes what it has. Nothing of lines that fill no
/// vector, and where the sum is not finite, as one of double might be.
[[gnu::always_inline]] AOE_WIDE inline std::optional<double> sum_of_line(const float* x,
                                                                         std::int64_t count) {
  constexpr std::int64_t kVectors = 4, kStep = kVectors * kFloats, kMost = 64 * kStep;
  if (count < kFloats) return {};
  using Loose = Lanes<float>::Loose;
  double sum = 0;
  for (std::int64_t begin = 0; begin < count; begin += kMost) {
    const std::int64_t end = std::min(count, begin + kMost);
    Floats parts[kVectors] = {};
    std::int64_t i = begin;
    for (; i + kStep <= end; i += kStep)
      for (std::int64_t k = 0; k < kVectors; ++k)
        parts[k] += *reinterpret_cast<const Loose*>(x + i + k * kFloats);
    for (; i + kFloats <= end; i += kFloats) parts[0] += *reinterpret_cast<const Loose*>(x + i);
    if (i < end) {  // the last vector again, without what has been added
      using Places = Lanes<std::int32_t>::Vector;
      const auto old = static_cast<std::int32_t>(kFloats - (end - i));
      const Places places = {0, 1, 2, 3, 4, 5, 6, 7};
      const Floats last = *reinterpret_cast<const Loose*>(x + end - kFloats);
      parts[1] += places >= old ? last : Floats{};
    }
    const Floats all = (parts[0] + parts[1]) + (parts[2] + parts[3]);
    sum += ((double{all[0]} + double{all[4]}) + (double{all[1]} + double{all[5]})) +
           ((double{all[2]} + double{all[6]}) + (double{all[3]} + double{all[7]}));
  }
  if (!std::isfinite(sum)) return {};
  return sum;
}

}  // namespace aoe::native
