// A softmax whose scores come block by block: what it needs to know of those before.
#pragma once

#include <cstdint>
#include <limits>

namespace aoe::native {

/// Of a row of scores so far.
struct SoftmaxRow {
  float largest = -std::numeric_limits<float>::infinity();
  float sum = 0;  ///< of exp(score - largest)

  /// What weighted sums are to be divided by. NaN where no score is more than -infinity, as of the definition.
  float end() const { return sum > 0 ? 1 / sum : std::numeric_limits<float>::quiet_NaN(); }
};

/// What is added to scores, or bounds them.
struct ScoreMask {
  const float* numbers;  ///< nullptr: nothing
  std::int64_t step;     ///< from one score to the next
  bool is_bound;
};

/// The softmax of whole lines, one behind the other, or its logarithm; y is not x. NaN where a line has one, or its largest is infinite,
/// as of the definition.
void write_softmax(const float* x, std::int64_t lines, std::int64_t count, bool is_log, float* y);

/// `count` more scores become their exponentials, which the row knows of then. What has been summed with those before is to be
/// multiplied with the result.
float take_scores(float* scores, std::int64_t count, const ScoreMask& mask, SoftmaxRow& row);

/// Whether the exponentials of the next `count` scores are 0, whatever they are but NaN.
bool hides_all(const ScoreMask& mask, std::int64_t count, const SoftmaxRow& row);

/// Elements that are `step` apart, times `factor`.
void copy_scaled(const float* from, std::int64_t step, std::int64_t count, float factor, float* to,
                 std::int64_t to_step);

}  // namespace aoe::native
