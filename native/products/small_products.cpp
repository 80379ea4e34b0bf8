// A row of the right factor is read as one vector, and a row of the result written as one: what lies behind them belongs to the next row,
// which is written later. Where none follows they are copied to where there is room.
#include "native/products/small_products.h"

#include <algorithm>

#include "native/wide.h"

namespace aoe::native {
namespace {

template <typename T, int kWidth>
struct Row {
  using Loose __attribute__((vector_size(kWidth * sizeof(T)), aligned(alignof(T)), may_alias)) = T;
};

template <int kWidth, typename T>
AOE_WIDE inline void multiply_one(const SmallProducts& size, const T* left, const T* right, T* to) {
  using Loose = typename Row<T, kWidth>::Loose;
  for (std::int64_t r = 0; r < size.m; ++r, to += size.n) {
    Loose sum = {};
    const T* row = right;
    for (std::int64_t i = 0; i < size.k; ++i, row += size.n)
      sum += *left++ * *reinterpret_cast<const Loose*>(row);
    *reinterpret_cast<Loose*>(to) = sum;
  }
}

template <int kWidth, typename T>
AOE_WIDE void multiply_all(const SmallProducts& size, std::span<const T> left,
                           std::span<const T> right, std::span<const SmallProducts::Pair> pairs,
                           T* to) {
  const std::int64_t factor = size.k * size.n, result = size.m * size.n,
                     last = std::ssize(right) - factor - kWidth,
                     last_result = std::ssize(pairs) * result - result - kWidth;
  std::int64_t at = 0;
  for (const auto& [a, b] : pairs) {
    const T *from = left.data() + a * size.m * size.k, *factors = right.data() + b * factor;
    if (b * factor <= last && at <= last_result) {
      multiply_one<kWidth>(size, from, factors, to + at);
    } else {
      constexpr std::int64_t kMost = 512 + kWidth;
      T copy[kMost] = {}, sums[kMost];
      std::copy_n(factors, factor, copy);
      multiply_one<kWidth>(size, from, copy, sums);
      std::copy_n(sums, result, to + at);
    }
    at += result;
  }
}

}  // namespace

template <typename T>
void SmallProducts::multiply(std::span<const T> left, std::span<const T> right,
                             std::span<const Pair> pairs, T* to) const {
  constexpr int kHalf = kMostColumns / 2;
  n <= kHalf ? multiply_all<kHalf>(*this, left, right, pairs, to)
             : multiply_all<kMostColumns>(*this, left, right, pairs, to);
}

template void SmallProducts::multiply<float>(std::span<const float>, std::span<const float>,
                                             std::span<const Pair>, float*) const;
template void SmallProducts::multiply<double>(std::span<const double>, std::span<const double>,
                                              std::span<const Pair>, double*) const;

}  // namespace aoe::native
