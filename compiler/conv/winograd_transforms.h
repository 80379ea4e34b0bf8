// The one-dimensional transforms of Winograd's F(m,r) with m + r - 1 = 4, 6 or 8 inputs, on vectors and for weights.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "compiler/loopnest/loopnest.h"

namespace aoe::compiler {

/// B^T d: as many values as inputs, whatever m and r. Results are kept in registers.
std::vector<loopnest::Vec> transform_inputs(loopnest::Builder& builder,
                                            const std::vector<loopnest::Vec>& d);

/// A^T p: the products to `outputs` outputs.
std::vector<loopnest::Vec> transform_products(loopnest::Builder& builder,
                                              const std::vector<loopnest::Vec>& p,
                                              std::int64_t outputs);

/// G: the `inputs` x `taps` matrix that weights are multiplied with from both sides.
std::vector<std::vector<double>> weight_transform(std::int64_t inputs, std::int64_t taps);

// ---- F(4,3) in whole numbers ----
//
// The points 0, 1, -1, 2, -1/2 and infinity make every difference of two of them, as a fraction's determinant, 1, 2, 3 or 5, with
// the factor 2 once for each point: with multiples of 15 among the weights every matrix is whole, and the result is 30 times the
// convolution's. Both axes together: 900 = 4 * 225 times, and since 225 has an inverse modulo 2^32, sums of int32 that wrap
// around give 4 times the result exactly, whatever overflowed on the way, if only that fits int32 itself.
// Inputs of a range of 255 become at most 98 * 255 = 24990, weights of 8 bits at most 15 * 15 * 128 = 28800: both are int16.
//
// Weights of 9 bits would not be. Four rows of the weights' matrix are multiples of 5: along the columns they are divided by it,
// which leaves at most 15 * 7 * 255 = 26775, and the products of the two others take the inverse of 5, modulo 2^32 again.

/// What the weights' matrix is along the columns: as it stands below, or with the rows that are multiples of 5 divided by it.
enum class ColumnWeights { kWhole, kFifths };

/// Of int32 lanes, six inputs.
std::vector<loopnest::Vec> transform_whole_inputs(loopnest::Builder& builder,
                                                  const std::vector<loopnest::Vec>& d);
/// Of int32 lanes, to four outputs, 30 times as large, or 6 times.
std::vector<loopnest::Vec> transform_whole_products(loopnest::Builder& builder,
                                                    std::vector<loopnest::Vec> p,
                                                    ColumnWeights weights);
/// Of a sum that went through both axes, and 4 times its bias: 4 times the biased sum, as float32.
loopnest::Vec scaled_sum(loopnest::Vec sum, loopnest::Vec bias, ColumnWeights weights);
/// Of weights, row by row.
constexpr std::array<std::array<std::int32_t, 3>, 6> kWholeWeightTransform = {
    {{15, 0, 0}, {-5, -5, -5}, {5, -5, 5}, {1, 2, 4}, {-4, 2, -1}, {0, 0, 15}}};
/// By which its row `i` is divided along the columns.
constexpr std::int32_t column_divisor(std::size_t i, ColumnWeights weights) {
  return weights == ColumnWeights::kFifths && i != 3 && i != 4 ? 5 : 1;
}

}  // namespace aoe::compiler
