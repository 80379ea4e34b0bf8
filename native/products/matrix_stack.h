// The products that a product of two stacks of matrices is made of.
#pragma once

#include <array>

#include "reference/products/matrix.h"
#include "reference/tensors/broadcast.h"
#include "reference/tensors/strided.h"

namespace aoe::native {

/// add(a, b, rows): matrix a of the left stack and those behind it, `rows` rows together, times matrix b of the right one; in the
/// order of the results. A stack whose right factor is one matrix is one product of all rows.
template <typename Add>
void for_each_product(const reference::MatMulShape& s, const Add& add) {
  const Shape a_batch(s.a.begin(), s.a.end() - 2), b_batch(s.b.begin(), s.b.end() - 2);
  if (element_count(b_batch) == 1 && element_count(a_batch) == element_count(s.batch))
    return add(0, 0, element_count(s.batch) * s.m);
  const std::array strides = {reference::broadcast_strides(a_batch, s.batch),
                              reference::broadcast_strides(b_batch, s.batch)};
  reference::for_each_row(s.batch, strides,
                          [&](const auto& offsets, const auto& steps, std::int64_t count) {
                            for (std::int64_t i = 0; i < count; ++i)
                              add(offsets[0] + i * steps[0], offsets[1] + i * steps[1], s.m);
                          });
}

}  // namespace aoe::native
