// Statistics of noisy times: medians, paired verdicts.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string_view>

namespace aoe {

/// Middle of the sorted values, mean of the two middle ones for even counts; AOE_CHECKs that there
/// is one.
double median(std::span<const double> values);

/// Between the quartiles: the middle half of the values lies in it. AOE_CHECKs that there is one.
double quartile_range(std::span<const double> values);

struct Interval {
  double low = 0;
  double high = 0;
};
/// 95% confidence interval of the median, by order statistics; of fewer than 6 values their whole range. AOE_CHECKs that
/// there is one.
Interval median_interval(std::span<const double> values);

enum class Verdict { kFaster, kSlower, kSame, kAmbiguous };
std::string_view name(Verdict verdict);  ///< "faster", "slower", "same", "ambiguous"
std::optional<Verdict> verdict_from_name(std::string_view name);

/// before / after of paired samples, by the median of the pairs' ratios with its confidence
/// interval.
struct Comparison {
  double speedup = 1;  ///< > 1: `after` is faster
  double low = 1;      ///< 95% confidence interval of the median ratio
  double high = 1;
  Verdict verdict = Verdict::kAmbiguous;
  bool is_faster() const { return verdict == Verdict::kFaster; }
  bool is_slower() const { return verdict == Verdict::kSlower; }
};

/// The interval comes from order statistics of the ratios (the sign test turned round): it assumes
/// nothing about how the noise is distributed, and a few wild samples cannot move it. faster /
/// slower: the whole interval is beyond 1 by more than `margin`; same: it lies within 1 +- margin;
/// else ambiguous. Fewer than 6 pairs cannot carry a 95% statement: ambiguous. The first of one
/// belongs to the first of the other, and so on; where one ended early, the rest has no partner.
Comparison compare_pairs(std::span<const double> before, std::span<const double> after,
                         double margin);

/// The same of pairs that were taken in groups, such as loads of two oms, between which more differs than within: each group
/// counts once, by the median ratio of its pairs. `group_begins`: the index of each group's first pair, rising from 0; a group
/// without a pair does not count. Fewer than 6 groups carry no interval of their own: that of the pairs reaches
/// to all of their medians.
Comparison compare_groups(std::span<const double> before, std::span<const double> after,
                          std::span<const std::size_t> group_begins, double margin);

}  // namespace aoe
