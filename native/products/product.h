// Products whose factors lie as the kernel has them, for what is too small or too odd to be made a MatMul.
#pragma once

#include <cstdint>
#include <type_traits>

namespace aoe::native {

/// Rows of `columns` elements, of which the first of one lies `stride` behind that of the one before.
template <typename T>
struct Rows {
  T* data;
  std::int64_t stride;

  T* row(std::int64_t i) const { return data + i * stride; }
  Rows from(std::int64_t column) const { return {data + column, stride}; }
};

/// Rows that lie anywhere: row i at data + places[i].
template <typename T>
struct RowsAt {
  T* data;
  const std::int64_t* places;

  T* row(std::int64_t i) const { return data + places[i]; }
  RowsAt from(std::int64_t column) const { return {data + column, places}; }
};

/// Four factors of 8 bits, the first in the lowest; those of the left have no sign, those of the right have. The product of two
/// quads is the sum of all four products, whose sums wrap.
using Quad = std::uint32_t;

/// sums[r][j] += the sum over i of left[r][i] * right[i][j], for `rows` rows of `length` factors. Of float, double, integers
/// of 32 and 64 bits with a sign, which wrap, and Quad, whose sums are numbers.
template <typename T>
void add_product(Rows<const std::type_identity_t<T>> left, std::int64_t rows, std::int64_t length,
                 Rows<const std::type_identity_t<T>> right, Rows<T> sums, std::int64_t columns);
/// Of float, double or Quad.
template <typename T>
void add_product(Rows<const std::type_identity_t<T>> left, std::int64_t rows, std::int64_t length,
                 RowsAt<const std::type_identity_t<T>> right, Rows<T> sums, std::int64_t columns);

}  // namespace aoe::native
