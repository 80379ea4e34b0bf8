// Products of dense matrices, and of stacks of them as numpy.matmul defines it.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "base/tensor.h"
#include "reference/elements/typed.h"
#include "reference/tensors/broadcast.h"
#include "reference/tensors/strided.h"

namespace aoe::reference {

/// How two stacks of matrices multiply. Vectors are promoted to matrices; the added axis is dropped again in `output`.
struct MatMulShape {
  Shape a, b;    ///< promoted: at least two axes each
  Shape batch;   ///< the common leading axes
  Shape output;  ///< kUnknownDim where an input's is
  std::int64_t m = 0, k = 0, n = 0;
};

/// Throws Error(kModel) when the shapes do not fit.
MatMulShape matmul_shape(const Shape& a, const Shape& b);

/// sum + a * b; integers wrap around, as they do in generated code and elsewhere.
template <typename T>
T plus_product(T sum, T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    const auto bits = [](T value) { return static_cast<std::uint64_t>(value); };
    return static_cast<T>(bits(sum) + bits(a) * bits(b));
  } else {
    return sum + a * b;
  }
}

/// c (m x n) += a (m x k) * b (k x n). Rows of c are taken in small blocks, so that b is read once per block and not
/// once per row; the inner loop walks a row of b. b may have any element type: weights are too large to widen a copy.
template <typename T, typename B>
void multiply_add(const T* a, const B* b, T* c, std::int64_t m, std::int64_t k, std::int64_t n) {
  constexpr std::int64_t kRowsPerBlock = 8;
  for (std::int64_t begin = 0; begin < m; begin += kRowsPerBlock) {
    const std::int64_t end = std::min(m, begin + kRowsPerBlock);
    for (std::int64_t p = 0; p < k; ++p) {
      for (std::int64_t i = begin; i < end; ++i) {
        const T factor = a[i * k + p];
        for (std::int64_t j = 0; j < n; ++j)
          c[i * n + j] = plus_product(c[i * n + j], factor, convert<T>(b[p * n + j]));
      }
    }
  }
}

/// The same with b stored transposed, n x k: sums along its rows.
template <typename T, typename B>
void multiply_add_transposed(const T* a, const B* b, T* c, std::int64_t m, std::int64_t k,
                             std::int64_t n) {
  for (std::int64_t j = 0; j < n; ++j) {
    for (std::int64_t i = 0; i < m; ++i) {
      T sum = 0;
      for (std::int64_t p = 0; p < k; ++p)
        sum = plus_product(sum, a[i * k + p], convert<T>(b[j * k + p]));
      c[i * n + j] = plus_product(c[i * n + j], sum, T{1});
    }
  }
}

/// All products of two stacks; `b` as large as its shape says.
template <typename T, typename B>
std::vector<T> matmul(const MatMulShape& s, const std::vector<T>& a, const B* b) {
  std::vector<T> c(static_cast<std::size_t>(element_count(s.batch) * s.m * s.n));
  const Shape a_batch(s.a.begin(), s.a.end() - 2), b_batch(s.b.begin(), s.b.end() - 2);
  const std::array strides = {broadcast_strides(a_batch, s.batch),
                              broadcast_strides(b_batch, s.batch)};
  T* next = c.data();
  for_each_row(s.batch, strides, [&](const auto& offsets, const auto& steps, std::int64_t count) {
    for (std::int64_t i = 0; i < count; ++i, next += s.m * s.n) {
      multiply_add(a.data() + (offsets[0] + i * steps[0]) * s.m * s.k,
                   b + (offsets[1] + i * steps[1]) * s.k * s.n, next, s.m, s.k, s.n);
    }
  });
  return c;
}

}  // namespace aoe::reference
