// Trials by expected gain.
#include "tuner/search/budget.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace aoe::tuner {

std::vector<std::size_t> order_by_gain(std::span<const double> task_ns) {
  std::vector<std::size_t> order(task_ns.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, std::ranges::greater{},
                           [&](std::size_t i) { return task_ns[i]; });
  return order;
}

std::vector<int> plan_trials(std::span<const double> task_ns, const std::vector<bool>& is_familiar,
                             const SearchPolicy& policy, std::int64_t total_limit) {
  const double model_ns = std::accumulate(task_ns.begin(), task_ns.end(), 0.0);
  std::vector<int> planned;
  for (std::size_t i = 0; i < task_ns.size(); ++i) {
    const double percent = model_ns > 0 ? 100 * task_ns[i] / model_ns : 0;
    const double wanted = std::round(policy.trials_per_percent * percent);
    planned.push_back(std::clamp(static_cast<int>(std::min(wanted, 1e9)), policy.min_trials,
                                 std::max(policy.min_trials, policy.max_trials)));
    if (!is_familiar.empty() && is_familiar[i])
      planned[i] = std::max(1, static_cast<int>(std::ceil(policy.familiar_share * planned[i])));
  }
  const std::int64_t sum = std::accumulate(planned.begin(), planned.end(), std::int64_t{0});
  if (total_limit <= 0 || sum <= total_limit) return planned;

  const double shrink = static_cast<double>(total_limit) / static_cast<double>(sum);
  std::int64_t left = total_limit;
  for (const std::size_t i : order_by_gain(task_ns)) {
    const auto share = std::max<std::int64_t>(1, static_cast<std::int64_t>(planned[i] * shrink));
    planned[i] = static_cast<int>(std::min(share, left));
    left -= planned[i];
  }
  return planned;
}

double task_time_s(double left_s, int planned_trials, std::int64_t planned_trials_left) {
  if (planned_trials_left <= 0) return left_s;
  const double part =
      static_cast<double>(planned_trials) / static_cast<double>(planned_trials_left);
  return std::min(left_s, 2 * part * left_s);
}

}  // namespace aoe::tuner
