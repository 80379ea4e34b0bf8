// Products of a matrix with the transpose of another, as weights of recurrences lie: nothing is packed.
#pragma once

#include "native/products/product.h"

namespace aoe::native {

/// sums[r][c] += the dot product of left[r] and right[c], of `length` elements. Of float and double.
template <typename T>
void add_dot_products(Rows<const std::type_identity_t<T>> left, std::int64_t rows,
                      Rows<const std::type_identity_t<T>> right, std::int64_t columns,
                      std::int64_t length, Rows<T> sums);

}  // namespace aoe::native
