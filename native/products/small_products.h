// Products of matrices so small that what is done around a product takes longer than itself: transforms of points, rotations.
#pragma once

#include <cstdint>
#include <span>

namespace aoe::native {

/// Of products of a left factor of m x k and a right one of k x n elements.
struct SmallProducts {
  std::int64_t m, k, n;

  static constexpr std::int64_t kMostColumns = 8;
  bool are_small() const {
    constexpr std::int64_t kMostFactors = 512;
    return m > 0 && k > 0 && n > 0 && n <= kMostColumns && m * k * n <= kMostFactors;
  }

  /// Numbers of the factors of a product in their stacks.
  struct Pair {
    std::int64_t left, right;
  };
  /// Result i of `to`, which has as many as there are pairs. Of float or double.
  template <typename T>
  void multiply(std::span<const T> left, std::span<const T> right, std::span<const Pair> pairs,
                T* to) const;
};

}  // namespace aoe::native
