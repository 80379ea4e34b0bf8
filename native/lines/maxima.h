// The largest of several rows of numbers, element by element; a NaN is larger than any.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

#include "native/wide.h"

namespace aoe::native {

/// Whether any of them is NaN. Where none is, kOrdered saves most of what maxima take.
template <typename T>
AOE_WIDE bool has_nan(const T* x, std::int64_t count) {
  int found = 0;
  for (std::int64_t i = 0; i < count; ++i) found |= x[i] != x[i] ? 1 : 0;
  return found != 0;
}

template <bool kOrdered, typename T>
AOE_WIDE inline T larger(T value, T best) {
  if constexpr (kOrdered)
    return value > best ? value : best;
  else
    return (value > best) | (value != value) ? value : best;
}

/// best[i] = the larger of it and x[i].
template <bool kOrdered, typename T>
AOE_WIDE void raise_to(const T* __restrict x, std::int64_t count, T* __restrict best) {
  for (std::int64_t i = 0; i < count; ++i) best[i] = larger<kOrdered>(x[i], best[i]);
}

template <bool kOrdered, typename T>
AOE_WIDE void raise_to(const T* __restrict a, const T* __restrict b, std::int64_t count,
                       T* __restrict best) {
  for (std::int64_t i = 0; i < count; ++i)
    best[i] = larger<kOrdered>(b[i], larger<kOrdered>(a[i], best[i]));
}

template <bool kOrdered, typename T>
AOE_WIDE void write_larger(const T* a, const T* b, std::int64_t count, T* __restrict best) {
  for (std::int64_t i = 0; i < count; ++i) best[i] = larger<kOrdered>(b[i], a[i]);
}

template <bool kOrdered, typename T>
AOE_WIDE void write_largest(const T* a, const T* b, const T* c, std::int64_t count,
                            T* __restrict best) {
  for (std::int64_t i = 0; i < count; ++i)
    best[i] = larger<kOrdered>(c[i], larger<kOrdered>(b[i], a[i]));
}

/// best[i] = the largest of row[i] of all rows, of which there is one at least. None of them lies where `best` does.
template <bool kOrdered, typename T>
void write_largest(std::span<const T* const> rows, std::int64_t count, T* best) {
  std::size_t taken = std::min<std::size_t>(rows.size(), 3);
  if (taken == 1)
    std::copy_n(rows[0], count, best);
  else if (taken == 2)
    write_larger<kOrdered>(rows[0], rows[1], count, best);
  else
    write_largest<kOrdered>(rows[0], rows[1], rows[2], count, best);
  for (; taken + 1 < rows.size(); taken += 2)
    raise_to<kOrdered>(rows[taken], rows[taken + 1], count, best);
  for (; taken < rows.size(); ++taken) raise_to<kOrdered>(rows[taken], count, best);
}

}  // namespace aoe::native
