// Medians and the confidence interval of a median from order statistics.
#include "base/statistics.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/check.h"

namespace aoe {
namespace {

double median_of_sorted(std::span<const double> sorted) {
  const std::size_t middle = sorted.size() / 2;
  return sorted.size() % 2 == 1 ? sorted[middle] : 0.5 * (sorted[middle - 1] + sorted[middle]);
}

/// Largest r with P(Binomial(n, 1/2) < r) <= 2.5%: the r-th smallest and r-th largest of n values
/// enclose the median with 95% confidence. 0 when n is too small for that.
int order_rank(int n) {
  double probability = std::pow(0.5, n);  // of exactly k successes
  double below = 0;
  int rank = 0;
  for (int k = 0; k < n; ++k) {
    below += probability;
    if (below > 0.025) break;
    rank = k + 1;
    probability *= static_cast<double>(n - k) / (k + 1);
  }
  return rank;
}

Verdict verdict_of(const Comparison& c, double margin) {
  if (c.low > 1 + margin) return Verdict::kFaster;
  if (c.high < 1 - margin) return Verdict::kSlower;
  if (c.low >= 1 - margin && c.high <= 1 + margin) return Verdict::kSame;
  return Verdict::kAmbiguous;
}

}  // namespace

std::string_view name(Verdict verdict) {
  constexpr std::string_view kNames[] = {"faster", "slower", "same", "ambiguous"};
  return kNames[static_cast<std::size_t>(verdict)];
}

double median(std::span<const double> values) {
  AOE_CHECK(!values.empty(), "median of nothing");
  std::vector<double> sorted(values.begin(), values.end());
  std::ranges::sort(sorted);
  return median_of_sorted(sorted);
}

double quartile_range(std::span<const double> values) {
  AOE_CHECK(!values.empty(), "spread of nothing");
  std::vector<double> sorted(values.begin(), values.end());
  std::ranges::sort(sorted);
  return sorted[sorted.size() * 3 / 4] - sorted[sorted.size() / 4];
}

Interval median_interval(std::span<const double> values) {
  AOE_CHECK(!values.empty(), "interval of nothing");
  std::vector<double> sorted(values.begin(), values.end());
  std::ranges::sort(sorted);
  const auto rank =
      static_cast<std::size_t>(std::max(1, order_rank(static_cast<int>(sorted.size()))));
  return {.low = sorted[rank - 1], .high = sorted[sorted.size() - rank]};
}

Comparison compare_pairs(std::span<const double> before, std::span<const double> after,
                         double margin) {
  Comparison result;
  const std::size_t pairs = std::min(before.size(), after.size());
  if (pairs == 0) return result;
  std::vector<double> ratios;
  ratios.reserve(pairs);
  for (std::size_t i = 0; i < pairs; ++i) ratios.push_back(before[i] / after[i]);
  std::ranges::sort(ratios);

  result.speedup = median_of_sorted(ratios);
  const int rank = order_rank(static_cast<int>(ratios.size()));
  if (rank == 0) {
    result.low = ratios.front();
    result.high = ratios.back();
    return result;
  }
  result.low = ratios[static_cast<std::size_t>(rank - 1)];
  result.high = ratios[ratios.size() - static_cast<std::size_t>(rank)];
  result.verdict = verdict_of(result, margin);
  return result;
}

}  // namespace aoe
