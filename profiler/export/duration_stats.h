// DurationStats: what the statistic tables say about a set of durations, in one pass.
#pragma once

#include <algorithm>
#include <cstdint>

namespace aoe::profiler {

struct DurationStats {
  std::int64_t count = 0;
  std::int64_t total_ns = 0;
  std::int64_t min_ns = 0;
  std::int64_t max_ns = 0;

  void add(std::int64_t ns) {
    min_ns = count == 0 ? ns : std::min(min_ns, ns);
    max_ns = count == 0 ? ns : std::max(max_ns, ns);
    total_ns += ns;
    ++count;
    // Welford: the difference of the mean square and the squared mean would cancel.
    const double us = static_cast<double>(ns) / 1e3;
    const double distance = us - mean_us_;
    mean_us_ += distance / static_cast<double>(count);
    squares_us2_ += distance * (us - mean_us_);
  }

  double average_us() const {
    return count == 0 ? 0 : static_cast<double>(total_ns) / 1e3 / static_cast<double>(count);
  }
  /// Of the population: divided by the count, not by one less.
  double variance_us2() const { return count == 0 ? 0 : squares_us2_ / static_cast<double>(count); }
  double percent_of(std::int64_t all_ns) const {
    return all_ns == 0 ? 0 : 100.0 * static_cast<double>(total_ns) / static_cast<double>(all_ns);
  }

 private:
  double mean_us_ = 0;
  double squares_us2_ = 0;
};

}  // namespace aoe::profiler
