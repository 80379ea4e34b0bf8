// Register blocks of up to 8 rows, with vectors as long as the processor has them: every sum is added up in the same order.
#include "native/products/product.h"

#include <algorithm>

#include "base/ceil_div.h"
#include "native/wide.h"

namespace aoe::native {
namespace {

#define AOE_BLOCKS blocks
#define AOE_BYTES 32
#define AOE_VECTOR AOE_WIDE
#include "native/products/product_blocks.inc"

#if defined(__x86_64__)
#define AOE_BLOCKS long_blocks
#define AOE_BYTES 64
#define AOE_VECTOR __attribute__((target("arch=x86-64-v4")))
#include "native/products/product_blocks.inc"

#define AOE_BLOCKS quad_blocks
#define AOE_BYTES 64
#define AOE_VECTOR __attribute__((target("arch=x86-64-v4,avx512vnni")))
#define AOE_QUADS
#include "native/products/product_blocks.inc"
#endif

template <typename T, typename Right>
void add_product_by_blocks(Rows<const T> left, std::int64_t rows, std::int64_t length,
                           const Right& right, Rows<T> sums, std::int64_t columns) {
#if defined(__x86_64__)
  if constexpr (std::is_same_v<T, Quad>) {
    if (has_quads()) return quad_blocks::add_product<T>(left, rows, length, right, sums, columns);
  } else {
    if (has_long_vectors())
      return long_blocks::add_product<T>(left, rows, length, right, sums, columns);
  }
#endif
  blocks::add_product<T>(left, rows, length, right, sums, columns);
}

}  // namespace

template <typename T>
void add_product(Rows<const std::type_identity_t<T>> left, std::int64_t rows, std::int64_t length,
                 Rows<const std::type_identity_t<T>> right, Rows<T> sums, std::int64_t columns) {
  add_product_by_blocks<T>(left, rows, length, right, sums, columns);
}

template <typename T>
void add_product(Rows<const std::type_identity_t<T>> left, std::int64_t rows, std::int64_t length,
                 RowsAt<const std::type_identity_t<T>> right, Rows<T> sums, std::int64_t columns) {
  add_product_by_blocks<T>(left, rows, length, right, sums, columns);
}

template void add_product<float>(Rows<const float>, std::int64_t, std::int64_t, Rows<const float>,
                                 Rows<float>, std::int64_t);
template void add_product<float>(Rows<const float>, std::int64_t, std::int64_t, RowsAt<const float>,
                                 Rows<float>, std::int64_t);
template void add_product<double>(Rows<const double>, std::int64_t, std::int64_t,
                                  RowsAt<const double>, Rows<double>, std::int64_t);
template void add_product<double>(Rows<const double>, std::int64_t, std::int64_t,
                                  Rows<const double>, Rows<double>, std::int64_t);
template void add_product<std::int32_t>(Rows<const std::int32_t>, std::int64_t, std::int64_t,
                                        Rows<const std::int32_t>, Rows<std::int32_t>, std::int64_t);
template void add_product<std::int64_t>(Rows<const std::int64_t>, std::int64_t, std::int64_t,
                                        Rows<const std::int64_t>, Rows<std::int64_t>, std::int64_t);
template void add_product<Quad>(Rows<const Quad>, std::int64_t, std::int64_t, Rows<const Quad>,
                                Rows<Quad>, std::int64_t);
template void add_product<Quad>(Rows<const Quad>, std::int64_t, std::int64_t, RowsAt<const Quad>,
                                Rows<Quad>, std::int64_t);
}  // namespace aoe::native
