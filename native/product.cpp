// Register blocks of 6 rows and 2 vectors.
#include "native/product.h"

#include "native/wide.h"

namespace aoe::native {
namespace {

constexpr std::int64_t kVectors = 2;

template <typename T>
T product_of(T left, T right) {
  return left * right;
}
template <>
Pair product_of(Pair left, Pair right) {
  const auto half = [](Pair pair, int shift) {
    return std::int32_t{static_cast<std::int16_t>(pair >> shift)};
  };
  return half(left, 0) * half(right, 0) + half(left, 16) * half(right, 16);
}

template <typename T>
constexpr std::int64_t kBlock = kVectors* Lanes<T>::kCount;

/// sum + left * right, or for Pairs the sum of both products.
template <typename T>
AOE_WIDE inline typename Lanes<T>::Vector multiply_add(typename Lanes<T>::Vector sum, T left,
                                                       typename Lanes<T>::Vector right) {
  return sum + left * right;
}

template <>
AOE_WIDE inline Lanes<Pair>::Vector multiply_add<Pair>(Lanes<Pair>::Vector sum, Pair left,
                                                       Lanes<Pair>::Vector right) {
  using Unsigned __attribute__((vector_size(sizeof sum))) = std::uint32_t;  // which wrap
  const Lanes<Pair>::Vector all = Lanes<Pair>::Vector{} + left;
#if defined(__x86_64__)
  using Halves __attribute__((vector_size(sizeof sum))) = std::int16_t;
  const auto products = reinterpret_cast<Unsigned>(
      __builtin_ia32_pmaddwd256(reinterpret_cast<Halves>(all), reinterpret_cast<Halves>(right)));
#else
  const auto low = [](Lanes<Pair>::Vector x) { return x << 16 >> 16; };
  const auto products = reinterpret_cast<Unsigned>(low(all) * low(right)) +
                        reinterpret_cast<Unsigned>((all >> 16) * (right >> 16));
#endif
  return reinterpret_cast<Lanes<Pair>::Vector>(reinterpret_cast<Unsigned>(sum) + products);
}

/// kBlock columns.
template <int kRows, typename T>
AOE_WIDE void add_block(const T* left, std::int64_t length, Rows<const T> right, Rows<T> sums) {
  using Loose = typename Lanes<T>::Loose;
  typename Lanes<T>::Vector block[kRows][kVectors];
  for (std::int64_t r = 0; r < kRows; ++r)
    for (std::int64_t v = 0; v < kVectors; ++v)
      block[r][v] = reinterpret_cast<const Loose*>(sums.data + r * sums.stride)[v];
  for (std::int64_t i = 0; i < length; ++i) {
    const auto* row = reinterpret_cast<const Loose*>(right.data + i * right.stride);
    const typename Lanes<T>::Vector first = row[0], second = row[1];
    for (std::int64_t r = 0; r < kRows; ++r) {
      block[r][0] = multiply_add<T>(block[r][0], left[r * length + i], first);
      block[r][1] = multiply_add<T>(block[r][1], left[r * length + i], second);
    }
  }
  for (std::int64_t r = 0; r < kRows; ++r)
    for (std::int64_t v = 0; v < kVectors; ++v)
      reinterpret_cast<Loose*>(sums.data + r * sums.stride)[v] = block[r][v];
}

template <int kRows, typename T>
void add_rows(const T* left, std::int64_t length, Rows<const T> right, Rows<T> sums,
              std::int64_t columns) {
  std::int64_t j = 0;
  for (; j + kBlock<T> <= columns; j += kBlock<T>)
    add_block<kRows, T>(left, length, {right.data + j, right.stride}, {sums.data + j, sums.stride});
  for (; j < columns; ++j)
    for (std::int64_t r = 0; r < kRows; ++r)
      for (std::int64_t i = 0; i < length; ++i)
        sums.data[r * sums.stride + j] +=
            product_of(left[r * length + i], right.data[i * right.stride + j]);
}

}  // namespace

template <typename T>
void add_product(const T* left, std::int64_t rows, std::int64_t length,
                 Rows<const std::type_identity_t<T>> right, Rows<std::type_identity_t<T>> sums,
                 std::int64_t columns) {
  std::int64_t r = 0;
  const auto add = [&]<int kRows>() {
    for (; r + kRows <= rows; r += kRows)
      add_rows<kRows, T>(left + r * length, length, right,
                         {sums.data + r * sums.stride, sums.stride}, columns);
  };
  add.template operator()<6>();
  add.template operator()<4>();
  add.template operator()<2>();
  add.template operator()<1>();
}

template void add_product<float>(const float*, std::int64_t, std::int64_t, Rows<const float>,
                                 Rows<float>, std::int64_t);
template void add_product<double>(const double*, std::int64_t, std::int64_t, Rows<const double>,
                                  Rows<double>, std::int64_t);
template void add_product<Pair>(const Pair*, std::int64_t, std::int64_t, Rows<const Pair>,
                                Rows<Pair>, std::int64_t);
}  // namespace aoe::native
