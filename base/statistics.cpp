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

Comparison comparison_of(std::vector<double> ratios, double margin) {
  Comparison result;
  if (ratios.empty()) return result;
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

std::vector<double> ratios_of(std::span<const double> before, std::span<const double> after) {
  std::vector<double> ratios(std::min(before.size(), after.size()));
  for (std::size_t i = 0; i < ratios.size(); ++i) ratios[i] = before[i] / after[i];
  return ratios;
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
  return comparison_of(ratios_of(before, after), margin);
}

Comparison compare_groups(std::span<const double> before, std::span<const double> after,
                          std::span<const std::size_t> group_begins, double margin) {
  constexpr std::size_t kFewest = 6;  // of which an interval of 95% can be told
  const std::vector<double> ratios = ratios_of(before, after);
  std::vector<double> of_groups;
  for (std::size_t g = 0; g < group_begins.size(); ++g) {
    const std::size_t end = g + 1 < group_begins.size() ? group_begins[g + 1] : ratios.size();
    if (group_begins[g] >= std::min(end, ratios.size())) continue;
    const std::span<const double> all = ratios;
    of_groups.push_back(
        median(all.subspan(group_begins[g], std::min(end, ratios.size()) - group_begins[g])));
  }
  return comparison_of(of_groups.size() < kFewest ? ratios : of_groups, margin);
}

}  // namespace aoe
