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

/// Of elements that follow each other, as columns that all begin with the first of them.
template <typename T, typename Wins>
AOE_WIDE std::int64_t best_of_line(const T* x, std::int64_t count) {
  constexpr std::int64_t kColumns = 64;
  constexpr bool kTakesLast =
      std::is_same_v<Wins, std::greater_equal<>> || std::is_same_v<Wins, std::less_equal<>>;
  std::array<T, kColumns> best;
  std::array<PlaceBeside<T>, kColumns> rows;
  best.fill(x[0]);
  rows.fill(-1);
  std::int64_t i = 0;
  for (; i + kColumns <= count; i += kColumns)
    take_better<T, Wins>(x + i, kColumns, static_cast<PlaceBeside<T>>(i / kColumns), best.data(),
                         rows.data());
  T winner = x[0];
  std::int64_t place = 0;
  for (std::int64_t k = 0; k < kColumns; ++k) {
    if (rows[k] < 0) continue;
    const std::int64_t own = rows[k] * kColumns + k;
    const bool is_tie = best[k] == winner;
    if (is_tie ? (kTakesLast ? own > place : own < place) : Wins()(best[k], winner)) {
      winner = best[k];
      place = own;
    }
  }
  for (; i < count; ++i)
    if (Wins()(x[i], winner)) {
      winner = x[i];
      place = i;
    }
  return place;
}

}  // namespace aoe::native
