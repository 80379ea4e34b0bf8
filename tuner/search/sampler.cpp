// Random points, mutations and adaptations in a Schedule space.
#include "tuner/search/sampler.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"

namespace aoe::tuner {
using compiler::Plan;
using compiler::Schedule;
using compiler::ScheduleAxis;
namespace {

/// Illegal draws in a row after which a space counts as (nearly) empty.
constexpr int kMostAttempts = 64;

std::size_t below(std::size_t count, Random& random) {
  return std::uniform_int_distribution<std::size_t>(0, count - 1)(random);
}

bool chance(double probability, Random& random) {
  return std::bernoulli_distribution(probability)(random);
}

/// Index of the value nearest by ratio, so that 1 is as far from 2 as 32 from 64.
std::size_t nearest(const ScheduleAxis& axis, std::int64_t wanted) {
  const auto distance = [&](std::int64_t value) {
    return std::abs(std::log1p(std::abs(static_cast<double>(value))) -
                    std::log1p(std::abs(static_cast<double>(wanted)))) +
           ((value < 0) != (wanted < 0) ? 1e3 : 0.0);
  };
  const auto best = std::ranges::min_element(axis.values, {}, distance);
  return static_cast<std::size_t>(best - axis.values.begin());
}

/// Another value of one axis that has several. Axes list their values in order, so neighbours are
/// alike.
void change_one_axis(const Plan& plan, Schedule& schedule, Random& random) {
  std::vector<const ScheduleAxis*> free_axes;
  for (const ScheduleAxis& axis : plan.axes())
    if (axis.values.size() > 1) free_axes.push_back(&axis);
  if (free_axes.empty()) return;
  const ScheduleAxis& axis = *free_axes[below(free_axes.size(), random)];
  const std::size_t count = axis.values.size();
  const std::size_t now = nearest(axis, schedule.at(axis.name));
  std::size_t next = 0;
  if (chance(0.7, random)) {
    const bool up = now == 0 || (now + 1 < count && chance(0.5, random));
    next = up ? now + 1 : now - 1;
  } else {
    next = (now + 1 + below(count - 1, random)) % count;
  }
  schedule[axis.name] = axis.values[next];
}

}  // namespace

double point_count(const Plan& plan) {
  double count = 1;
  for (const ScheduleAxis& axis : plan.axes()) count *= static_cast<double>(axis.values.size());
  return std::min(count, 0x1p62);
}

std::optional<Schedule> draw(const Plan& plan, Random& random) {
  if (plan.axes().empty()) return std::nullopt;
  for (int attempt = 0; attempt < kMostAttempts; ++attempt) {
    Schedule schedule = plan.heuristic();
    for (const ScheduleAxis& axis : plan.axes())
      schedule[axis.name] = axis.values[below(axis.values.size(), random)];
    if (plan.is_legal(schedule)) return schedule;
  }
  return std::nullopt;
}

std::optional<Schedule> mutate(const Plan& plan, const Schedule& parent, Random& random) {
  if (plan.axes().empty()) return std::nullopt;
  for (int attempt = 0; attempt < kMostAttempts; ++attempt) {
    Schedule schedule = parent;
    change_one_axis(plan, schedule, random);
    if (chance(0.25, random)) change_one_axis(plan, schedule, random);
    if (schedule != parent && plan.is_legal(schedule)) return schedule;
  }
  return std::nullopt;
}

std::optional<Schedule> cross(const Plan& plan, const Schedule& mother, const Schedule& father,
                              Random& random) {
  Schedule child = mother;
  for (const ScheduleAxis& axis : plan.axes())
    if (chance(0.5, random)) child[axis.name] = father.at(axis.name);
  if (child == mother || child == father || !plan.is_legal(child)) return std::nullopt;
  return child;
}

std::vector<Schedule> single_steps(const Plan& plan, const Schedule& schedule) {
  std::vector<Schedule> list;
  for (const ScheduleAxis& axis : plan.axes()) {
    const std::size_t now = nearest(axis, schedule.at(axis.name));
    for (const std::size_t next : {now - 1, now + 1}) {  // below 0 wraps around: too large
      if (next >= axis.values.size()) continue;
      Schedule step = schedule;
      step[axis.name] = axis.values[next];
      if (plan.is_legal(step)) list.push_back(std::move(step));
    }
  }
  return list;
}

std::vector<Schedule> enumerate(const Plan& plan, std::size_t most) {
  if (point_count(plan) > static_cast<double>(most)) return {};
  std::vector<Schedule> points = {plan.heuristic()};
  for (const ScheduleAxis& axis : plan.axes()) {
    std::vector<Schedule> longer;
    for (Schedule point : points) {
      for (const std::int64_t value : axis.values) {
        point[axis.name] = value;
        longer.push_back(point);
      }
    }
    points = std::move(longer);
  }
  std::erase_if(points, [&](const Schedule& point) { return !plan.is_legal(point); });
  return points;
}

std::optional<Schedule> adapt(const Plan& plan, const Schedule& foreign) {
  Schedule schedule = plan.heuristic();
  for (const ScheduleAxis& axis : plan.axes()) {
    const auto wanted = foreign.find(axis.name);
    if (wanted != foreign.end()) schedule[axis.name] = axis.values[nearest(axis, wanted->second)];
  }
  if (!plan.is_legal(schedule)) return std::nullopt;
  return schedule;
}

}  // namespace aoe::tuner
