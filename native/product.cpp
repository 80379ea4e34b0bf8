// Register blocks of 4 rows and 2 vectors.
#include "native/product.h"

#include "native/wide.h"

namespace aoe::native {
namespace {

constexpr std::int64_t kVectors = 2;

template <typename T>
struct Lanes {
  static constexpr std::int64_t kCount = kFloats * sizeof(float) / sizeof(T);
  using Vector __attribute__((vector_size(kFloats * sizeof(float)))) = T;
  /// Where it lies anywhere. Copied byte by byte, vectors would be halves in between, which processors wait for.
  using Loose
      __attribute__((vector_size(kFloats * sizeof(float)), aligned(alignof(T)), may_alias)) = T;
};
template <typename T>
constexpr std::int64_t kBlock = kVectors* Lanes<T>::kCount;

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
      block[r][0] += left[r * length + i] * first;
      block[r][1] += left[r * length + i] * second;
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
        sums.data[r * sums.stride + j] += left[r * length + i] * right.data[i * right.stride + j];
}

}  // namespace

template <typename T>
void add_product(const T* left, std::int64_t rows, std::int64_t length,
                 Rows<const std::type_identity_t<T>> right, Rows<std::type_identity_t<T>> sums,
                 std::int64_t columns) {
  constexpr std::int64_t kMost = 4;
  std::int64_t r = 0;
  for (; r + kMost <= rows; r += kMost)
    add_rows<kMost, T>(left + r * length, length, right, {sums.data + r * sums.stride, sums.stride},
                       columns);
  for (; r < rows; ++r)
    add_rows<1, T>(left + r * length, length, right, {sums.data + r * sums.stride, sums.stride},
                   columns);
}

template void add_product<float>(const float*, std::int64_t, std::int64_t, Rows<const float>,
                                 Rows<float>, std::int64_t);
template void add_product<double>(const double*, std::int64_t, std::int64_t, Rows<const double>,
                                  Rows<double>, std::int64_t);
}  // namespace aoe::native
