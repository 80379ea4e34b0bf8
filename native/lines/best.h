// Which of many is the largest or smallest, and where: the first of equal ones, or the last. NaN wins over nothing, and nothing over
// NaN that comes first, as comparisons one after the other have it.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <type_traits>

#include "native/wide.h"

namespace aoe::native {

/// Places beside values of type T: of one size where there is one, for vectors of both.
template <typename T>
using PlaceBeside =
    std::conditional_t<sizeof(T) == sizeof(std::int64_t), std::int64_t, std::int32_t>;

/// Wins, std::greater<> or its like: whether an element takes the place of the best before it.
template <typename T, typename Wins>
AOE_WIDE inline void take_better(const T* __restrict x, std::int64_t count, PlaceBeside<T> place,
                                 T* __restrict best, PlaceBeside<T>* __restrict places) {
  for (std::int64_t i = 0; i < count; ++i) {
    const bool wins = Wins()(x[i], best[i]);
    best[i] = wins ? x[i] : best[i];
    places[i] = wins ? place : places[i];
  }
}

/// Of `count` columns of `rows` rows that are `stride` apart.
template <typename T, typename Wins>
AOE_WIDE void best_of_columns(const T* x, std::int64_t rows, std::int64_t stride,
                              std::int64_t count, T* best, PlaceBeside<T>* places) {
  std::copy_n(x, count, best);
  std::fill_n(places, count, PlaceBeside<T>{0});
  for (std::int64_t row = 1; row < rows; ++row)
    take_better<T, Wins>(x + row * stride, count, static_cast<PlaceBeside<T>>(row), best, places);
}

/// As columns that all begin with the first element.
template <typename T, typename Wins>
AOE_WIDE T best_value(const T* x, std::int64_t count) {
  constexpr std::int64_t kColumns = 64;
  std::array<T, kColumns> best;
  best.fill(x[0]);
  const std::int64_t rest = count % kColumns;
  for (std::int64_t i = 0; i < count - rest; i += kColumns)
    for (std::int64_t k = 0; k < kColumns; ++k)
      best[k] = Wins()(x[i + k], best[k]) ? x[i + k] : best[k];
  for (std::int64_t k = 0; k < rest; ++k)
    best[k] = Wins()(x[count - rest + k], best[k]) ? x[count - rest + k] : best[k];
  for (std::int64_t half = kColumns / 2; half > 0; half /= 2)
    for (std::int64_t k = 0; k < half; ++k)
      best[k] = Wins()(best[k + half], best[k]) ? best[k + half] : best[k];
  return best[0];
}

template <typename T>
AOE_WIDE bool has_value(const T* x, std::int64_t count, T value) {
  int found = 0;
  for (std::int64_t i = 0; i < count; ++i) found |= x[i] == value;
  return found != 0;
}

/// Of elements that follow each other: which the best is, then where it stands.
template <typename T, typename Wins>
std::int64_t best_of_line(const T* x, std::int64_t count) {
  constexpr std::int64_t kBlock = 64;
  const T best = best_value<T, Wins>(x, count);
  if (best != best) return 0;  // NaN, which was the first
  if constexpr (std::is_same_v<Wins, std::greater_equal<>> ||
                std::is_same_v<Wins, std::less_equal<>>) {
    std::int64_t end = count;
    while (end > kBlock && !has_value(x + end - kBlock, kBlock, best)) end -= kBlock;
    while (x[end - 1] != best) --end;
    return end - 1;
  }
  std::int64_t begin = 0;
  while (begin + kBlock < count && !has_value(x + begin, kBlock, best)) begin += kBlock;
  while (x[begin] != best) ++begin;
  return begin;
}

}  // namespace aoe::native
