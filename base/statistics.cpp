// Medians and the confidence interval of a median from order statistics.
#include "base/statistics.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/check.h"

namespace aoe {
namespace {

constexpr std::string_view kVerdictNames[] = {"faster", "slower", "same", "ambiguous"};

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

/// Whether so many values carry a 95% statement.
bool can_be_told(std::size_t count) {
  return order_rank(static_cast<int>(count)) > 0;
}

Interval interval_of_sorted(std::span<const double> sorted) {
  const auto rank =
      static_cast<std::size_t>(std::max(1, order_rank(static_cast<int>(sorted.size()))));
  return {.low = sorted[rank - 1], .high = sorted[sorted.size() - rank]};
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
  const Interval interval = interval_of_sorted(ratios);
  result.low = interval.low;
  result.high = interval.high;
  if (can_be_told(ratios.size())) result.verdict = verdict_of(result, margin);
  return result;
}

std::vector<double> ratios_of(std::span<const double> before, std::span<const double> after) {
  std::vector<double> ratios(std::min(before.size(), after.size()));
  for (std::size_t i = 0; i < ratios.size(); ++i) ratios[i] = before[i] / after[i];
  return ratios;
}

}  // namespace

std::string_view name(Verdict verdict) {
  return kVerdictNames[static_cast<std::size_t>(verdict)];
}

std::optional<Verdict> verdict_from_name(std::string_view name) {
  const auto found = std::ranges::find(kVerdictNames, name);
  if (found == std::end(kVerdictNames)) return std::nullopt;
  return static_cast<Verdict>(found - std::begin(kVerdictNames));
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
  return interval_of_sorted(sorted);
}

Comparison compare_pairs(std::span<const double> before, std::span<const double> after,
                         double margin) {
  return comparison_of(ratios_of(before, after), margin);
}

Comparison compare_groups(std::span<const double> before, std::span<const double> after,
                          std::span<const std::size_t> group_begins, double margin) {
  const std::vector<double> ratios = ratios_of(before, after);
  const auto end_of = [&](std::size_t g) {
    return g + 1 < group_begins.size() ? std::min(group_begins[g + 1], ratios.size())
                                       : ratios.size();
  };
  std::vector<double> of_groups;
  for (std::size_t g = 0; g < group_begins.size(); ++g) {
    const std::size_t begin = group_begins[g], end = end_of(g);
    if (begin < end) of_groups.push_back(median(std::span(ratios).subspan(begin, end - begin)));
  }
  if (can_be_told(of_groups.size())) return comparison_of(of_groups, margin);
  Comparison of_pairs = comparison_of(ratios, margin);
  if (of_groups.empty()) return of_pairs;
  const auto [least, most] = std::ranges::minmax(of_groups);
  of_pairs.low = std::min(of_pairs.low, least);
  of_pairs.high = std::max(of_pairs.high, most);
  if (can_be_told(ratios.size())) of_pairs.verdict = verdict_of(of_pairs, margin);
  return of_pairs;
}

}  // namespace aoe
