// How many trials each task gets, and how long the rest will take.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "tuner/policy.h"

namespace aoe::tuner {

/// In proportion to each task's share of the model's time, within the policy's bounds; of that,
/// familiar tasks (`is_familiar[i]`; empty: none is) get the policy's familiar_share. With
/// `total_limit` > 0 the sum stays within it: all shrink alike, and when that is not enough the
/// tasks with the least time get none.
std::vector<int> plan_trials(std::span<const double> task_ns, const std::vector<bool>& is_familiar,
                             const SearchPolicy& policy, std::int64_t total_limit);

/// Order of tuning: the largest share of the model's time first.
std::vector<std::size_t> order_by_gain(std::span<const double> task_ns);

/// The share of `left_s` that a task may use: twice its part of the planned trials, since others
/// will end early.
double task_time_s(double left_s, int planned_trials, std::int64_t planned_trials_left);

}  // namespace aoe::tuner
