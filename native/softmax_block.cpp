#include "native/softmax_block.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "native/exponential.h"
#include "native/wide.h"

namespace aoe::native {
namespace {

constexpr std::int64_t kColumns = 32;  ///< sums and maxima side by side

/// As std::min, which keeps NaN of the score.
template <bool kIsBound>
AOE_WIDE inline float masked(float score, float mask) {
  if constexpr (kIsBound) return mask < score ? mask : score;
  return score + mask;
}

template <bool kIsBound>
AOE_WIDE void mask_scores(float* __restrict scores, const float* __restrict mask,
                          std::int64_t step, std::int64_t count) {
  if (step == 0) {
    const float one = *mask;
    for (std::int64_t i = 0; i < count; ++i) scores[i] = masked<kIsBound>(scores[i], one);
  } else if (step == 1) {
    for (std::int64_t i = 0; i < count; ++i) scores[i] = masked<kIsBound>(scores[i], mask[i]);
  } else {
    for (std::int64_t i = 0; i < count; ++i)
      scores[i] = masked<kIsBound>(scores[i], mask[i * step]);
  }
}

/// NaN is passed over: sums of exponentials have it.
AOE_WIDE float largest_of(const float* x, std::int64_t count, float start) {
  std::array<float, kColumns> best;
  best.fill(start);
  std::int64_t i = 0;
  for (; i + kColumns <= count; i += kColumns)
    for (std::int64_t k = 0; k < kColumns; ++k) best[k] = x[i + k] > best[k] ? x[i + k] : best[k];
  for (; i < count; ++i) best[0] = x[i] > best[0] ? x[i] : best[0];
  for (std::int64_t half = kColumns / 2; half > 0; half /= 2)
    for (std::int64_t k = 0; k < half; ++k)
      best[k] = best[k + half] > best[k] ? best[k + half] : best[k];
  return best[0];
}

/// x[i] = exp(x[i] - largest), and the sum of them.
AOE_WIDE float exponentials(float* x, std::int64_t count, float largest) {
  std::array<float, kColumns> sums{};
  std::int64_t i = 0;
  for (; i + kColumns <= count; i += kColumns)
    for (std::int64_t k = 0; k < kColumns; ++k) {
      x[i + k] = exp_down(x[i + k] - largest);
      sums[k] += x[i + k];
    }
  for (std::int64_t k = 0; k < count - i; ++k) {
    x[i + k] = exp_down(x[i + k] - largest);
    sums[k] += x[i + k];
  }
  for (std::int64_t half = kColumns / 2; half > 0; half /= 2)
    for (std::int64_t k = 0; k < half; ++k) sums[k] += sums[k + half];
  return sums[0];
}

}  // namespace

float take_scores(float* scores, std::int64_t count, const ScoreMask& mask, SoftmaxRow& row) {
  if (mask.numbers != nullptr)
    (mask.is_bound ? mask_scores<true> : mask_scores<false>)(scores, mask.numbers, mask.step,
                                                             count);
  const float before = row.largest;
  row.largest = largest_of(scores, count, before);
  // Of scores that are all -infinity exponentials are 0.
  const float base = row.largest == -std::numeric_limits<float>::infinity() ? 0 : row.largest;
  const float factor = before == row.largest ? 1 : exp_down(before - base);
  row.sum = row.sum * factor + exponentials(scores, count, base);
  return factor;
}

AOE_WIDE void scale_floats(float* row, std::int64_t count, float factor) {
  for (std::int64_t i = 0; i < count; ++i) row[i] *= factor;
}

}  // namespace aoe::native
