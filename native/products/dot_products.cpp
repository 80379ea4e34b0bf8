// Blocks of dot products, each a vector whose lanes are added up at the end.
#include "native/products/dot_products.h"

#include "native/wide.h"

namespace aoe::native {
namespace {

/// Lanes i and i + 4 of the result add up to the lanes of vectors[i], for four of them.
AOE_WIDE inline Floats halves_of_sums(const Floats* vectors) {
  Floats pairs[2];
  for (int i = 0; i < 2; ++i) {
    const Floats a = vectors[2 * i], b = vectors[2 * i + 1];
    pairs[i] = __builtin_shufflevector(a, b, 0, 8, 1, 9, 4, 12, 5, 13) +
               __builtin_shufflevector(a, b, 2, 10, 3, 11, 6, 14, 7, 15);
  }
  return __builtin_shufflevector(pairs[0], pairs[1], 0, 1, 8, 9, 4, 5, 12, 13) +
         __builtin_shufflevector(pairs[0], pairs[1], 2, 3, 10, 11, 6, 7, 14, 15);
}

/// to[i] += the lanes of vectors[i].
template <typename T, int kCount>
AOE_WIDE inline void add_lanes(const typename Lanes<T>::Vector (&vectors)[kCount], T* to) {
  constexpr bool is_float = sizeof(T) == sizeof(float);
  if constexpr (is_float && kCount == kFloats) {
    const Floats low = halves_of_sums(vectors), high = halves_of_sums(vectors + 4);
    *reinterpret_cast<Lanes<T>::Loose*>(to) +=
        __builtin_shufflevector(low, high, 0, 1, 2, 3, 8, 9, 10, 11) +
        __builtin_shufflevector(low, high, 4, 5, 6, 7, 12, 13, 14, 15);
  } else if constexpr (is_float && kCount == 4) {
    using Four __attribute__((vector_size(16), aligned(4), may_alias)) = float;
    const Floats sums = halves_of_sums(vectors);
    *reinterpret_cast<Four*>(to) += __builtin_shufflevector(sums, sums, 0, 1, 2, 3) +
                                    __builtin_shufflevector(sums, sums, 4, 5, 6, 7);
  } else {
    for (int i = 0; i < kCount; ++i)
      for (std::int64_t lane = 0; lane < Lanes<T>::kCount; ++lane) to[i] += vectors[i][lane];
  }
}

template <int kRows, int kColumns, typename T>
AOE_WIDE void add_dots(Rows<const T> left, Rows<const T> right, std::int64_t length, Rows<T> sums) {
  using Loose = typename Lanes<T>::Loose;
  typename Lanes<T>::Vector dots[kRows][kColumns];
  for (auto& row : dots)  // a loop, which leaves no zeros in memory
    for (auto& dot : row) dot = typename Lanes<T>::Vector{};
  std::int64_t i = 0;
  for (; i + Lanes<T>::kCount <= length; i += Lanes<T>::kCount) {
    typename Lanes<T>::Vector row[kRows];
    for (std::int64_t r = 0; r < kRows; ++r)
      row[r] = *reinterpret_cast<const Loose*>(left.data + r * left.stride + i);
    for (std::int64_t c = 0; c < kColumns; ++c) {
      const typename Lanes<T>::Vector column =
          *reinterpret_cast<const Loose*>(right.data + c * right.stride + i);
      for (std::int64_t r = 0; r < kRows; ++r) dots[r][c] += row[r] * column;
    }
  }
  for (std::int64_t r = 0; r < kRows; ++r) add_lanes<T>(dots[r], sums.data + r * sums.stride);
  for (; i < length; ++i)
    for (std::int64_t r = 0; r < kRows; ++r)
      for (std::int64_t c = 0; c < kColumns; ++c)
        sums.data[r * sums.stride + c] +=
            left.data[r * left.stride + i] * right.data[c * right.stride + i];
}

/// As many columns at a time as leave registers for the rows.
template <int kRows, int kColumns, typename T>
void add_row_block(Rows<const T> left, Rows<const T> right, std::int64_t columns,
                   std::int64_t length, Rows<T> sums) {
  std::int64_t c = 0;
  for (; c + kColumns <= columns; c += kColumns)
    add_dots<kRows, kColumns, T>(left, {right.data + c * right.stride, right.stride}, length,
                                 {sums.data + c, sums.stride});
  for (; c < columns; ++c)
    add_dots<kRows, 1, T>(left, {right.data + c * right.stride, right.stride}, length,
                          {sums.data + c, sums.stride});
}

}  // namespace

template <typename T>
void add_dot_products(Rows<const std::type_identity_t<T>> left, std::int64_t rows,
                      Rows<const std::type_identity_t<T>> right, std::int64_t columns,
                      std::int64_t length, Rows<T> sums) {
  // Rows of the right factor that the first-level cache keeps while all rows of the left one meet them.
  constexpr std::int64_t kColumns = 24;
  for (std::int64_t first = 0; first < columns; first += kColumns) {
    const std::int64_t count = columns - first < kColumns ? columns - first : kColumns;
    std::int64_t r = 0;
    const auto add = [&]<int kRows, int kAtOnce>() {
      for (; r + kRows <= rows; r += kRows)
        add_row_block<kRows, kAtOnce, T>({left.data + r * left.stride, left.stride},
                                         {right.data + first * right.stride, right.stride}, count,
                                         length,
                                         {sums.data + r * sums.stride + first, sums.stride});
    };
    add.template operator()<3, 4>();
    add.template operator()<2, 4>();
    // Short rows come from memory: prefetchers follow a few of them at a time.
    constexpr std::int64_t kShort = 128;
    if (length <= kShort)
      add.template operator()<1, 4>();
    else
      add.template operator()<1, 8>();
  }
}

template void add_dot_products<float>(Rows<const float>, std::int64_t, Rows<const float>,
                                      std::int64_t, std::int64_t, Rows<float>);
template void add_dot_products<double>(Rows<const double>, std::int64_t, Rows<const double>,
                                       std::int64_t, std::int64_t, Rows<double>);

}  // namespace aoe::native
