// Walks over dense and strided tensors: the one loop behind broadcasting, transposing, slicing and
// reducing.
//
// Strides count elements, one per dimension of the walked shape; 0 repeats (broadcast on reading,
// accumulate on writing), negative ones go backwards.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "base/tensor.h"

namespace aoe::reference {

using Strides = Shape;

/// {12, 4, 1} for 2x3x4.
Strides dense_strides(const Shape& shape);

/// Merges dimensions that all strides step through as one, and drops those of size 1; at least one
/// dimension remains.
void collapse(Shape& shape, std::span<Strides> strides);

/// Visits all elements of `shape` in row-major order, a row at a time: row(offsets, steps, count)
/// with the N offsets of the row's first element and the N steps along it. Never calls row() with
/// count 0.
template <std::size_t N, typename Row>
void for_each_row(Shape shape, std::array<Strides, N> strides, Row&& row) {
  if (element_count(shape) == 0) return;
  collapse(shape, strides);
  const std::size_t last = shape.size() - 1;
  std::array<std::int64_t, N> offsets{};
  std::array<std::int64_t, N> steps{};
  for (std::size_t n = 0; n < N; ++n) steps[n] = strides[n][last];
  Shape index(last, 0);
  for (;;) {
    row(offsets, steps, shape[last]);
    std::size_t dim = last;
    for (;;) {  // the odometer's carry
      if (dim == 0) return;
      --dim;
      for (std::size_t n = 0; n < N; ++n) offsets[n] += strides[n][dim];
      if (++index[dim] < shape[dim]) break;
      for (std::size_t n = 0; n < N; ++n) offsets[n] -= strides[n][dim] * shape[dim];
      index[dim] = 0;
    }
  }
}

/// Elements of a buffer, starting at element `offset`.
struct StridedView {
  void* data = nullptr;
  std::int64_t offset = 0;
  Strides strides;
};

/// Copies `shape` elements of `dtype`, whatever they mean.
void copy_strided(DataType dtype, const Shape& shape, const StridedView& from,
                  const StridedView& to);

/// Copies all bytes of a dense tensor; shapes may differ as long as the element counts agree.
void copy_dense(const Tensor& from, const Tensor& to);

/// Sets all elements to the one at `value`, which has the tensor's type.
void fill(const Tensor& tensor, const void* value);

}  // namespace aoe::reference
