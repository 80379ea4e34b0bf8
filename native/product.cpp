// Register blocks of 4 rows and 2 vectors.
#include "native/product.h"

#include <cstring>

#include "native/wide.h"

namespace aoe::native {
namespace {

constexpr std::int64_t kVectors = 2, kBlock = kVectors * kFloats;

/// kBlock columns.
template <int kRows>
AOE_WIDE void add_block(const float* left, std::int64_t length, Rows<const float> right,
                        Rows<float> sums) {
  Floats block[kRows][kVectors];
  for (std::int64_t r = 0; r < kRows; ++r)
    std::memcpy(block[r], sums.data + r * sums.stride, sizeof block[r]);
  for (std::int64_t i = 0; i < length; ++i) {
    Floats row[kVectors];
    std::memcpy(row, right.data + i * right.stride, sizeof row);
    for (std::int64_t r = 0; r < kRows; ++r)
      for (std::int64_t v = 0; v < kVectors; ++v) block[r][v] += left[r * length + i] * row[v];
  }
  for (std::int64_t r = 0; r < kRows; ++r)
    std::memcpy(sums.data + r * sums.stride, block[r], sizeof block[r]);
}

template <int kRows>
void add_rows(const float* left, std::int64_t length, Rows<const float> right, Rows<float> sums,
              std::int64_t columns) {
  std::int64_t j = 0;
  for (; j + kBlock <= columns; j += kBlock)
    add_block<kRows>(left, length, {right.data + j, right.stride}, {sums.data + j, sums.stride});
  for (; j < columns; ++j)
    for (std::int64_t r = 0; r < kRows; ++r)
      for (std::int64_t i = 0; i < length; ++i)
        sums.data[r * sums.stride + j] += left[r * length + i] * right.data[i * right.stride + j];
}

}  // namespace

void add_product(const float* left, std::int64_t rows, std::int64_t length, Rows<const float> right,
                 Rows<float> sums, std::int64_t columns) {
  constexpr std::int64_t kMost = 4;
  std::int64_t r = 0;
  for (; r + kMost <= rows; r += kMost)
    add_rows<kMost>(left + r * length, length, right, {sums.data + r * sums.stride, sums.stride},
                    columns);
  for (; r < rows; ++r)
    add_rows<1>(left + r * length, length, right, {sums.data + r * sums.stride, sums.stride},
                columns);
}

}  // namespace aoe::native
