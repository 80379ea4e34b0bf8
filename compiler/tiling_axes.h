// TilingAxes: the axes of a Schedule, each written once: its name, its legal values, and the field of a struct that it sets.
//
//   const TilingAxes<GemmTiling> axes = {{"m_block", &GemmTiling::m_block, {1, 2, 4}}, ...};
//   GemmTiling tiling = axes.tiling(schedule);
//
// What a field is for stands at the field. Searches take tilings of some axes with all() and choose among them with cheapest().
#pragma once

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <string>
#include <vector>

#include "base/check.h"
#include "compiler/impl.h"

namespace aoe::compiler {

template <typename Tiling>
class TilingAxes {
 public:
  using Field = std::int64_t Tiling::*;
  struct Axis {
    std::string name;
    Field field;
    std::vector<std::int64_t> values;  ///< legal ones, in order
  };

  TilingAxes(std::initializer_list<Axis> axes) : axes_(axes) {}

  std::vector<ScheduleAxis> schedule_axes() const {
    std::vector<ScheduleAxis> all;
    for (const Axis& axis : axes_) all.push_back({axis.name, axis.values});
    return all;
  }

  /// Fields whose axis the Schedule lacks are as in a new Tiling.
  Tiling tiling(const Schedule& schedule) const {
    Tiling tiling;
    for (const Axis& axis : axes_)
      if (const auto at = schedule.find(axis.name); at != schedule.end())
        tiling.*axis.field = at->second;
    return tiling;
  }

  Schedule schedule(const Tiling& tiling) const {
    Schedule schedule;
    for (const Axis& axis : axes_) schedule[axis.name] = tiling.*axis.field;
    return schedule;
  }

  const std::vector<std::int64_t>& values(Field field) const {
    const auto axis = std::ranges::find(axes_, field, &Axis::field);
    AOE_CHECK(axis != axes_.end(), "no axis sets this field");
    return axis->values;
  }

  /// `start` with all combinations of the values of `fields`, those of the last one fastest.
  std::vector<Tiling> all(const Tiling& start, std::initializer_list<Field> fields) const {
    std::vector<Tiling> tilings = {start};
    for (const Field field : fields) {
      std::vector<Tiling> longer;
      for (Tiling tiling : tilings) {
        for (const std::int64_t value : values(field)) {
          tiling.*field = value;
          longer.push_back(tiling);
        }
      }
      tilings = std::move(longer);
    }
    return tilings;
  }

  /// `tiling` with the last value of `field` for which it `is_good`; as it is where it never is.
  template <typename IsGood>
  Tiling with_last(Tiling tiling, Field field, const IsGood& is_good) const {
    for (Tiling& candidate : all(tiling, {field}))
      if (is_good(candidate)) tiling.*field = candidate.*field;
    return tiling;
  }

 private:
  std::vector<Axis> axes_;
};

inline constexpr double kNoChoice = std::numeric_limits<double>::infinity();

/// What costs least, the first of those within 0.1% of each other; a new Tiling where each costs kNoChoice.
template <typename Tiling, typename Cost>
Tiling cheapest(const std::vector<Tiling>& tilings, const Cost& cost) {
  Tiling best;
  double least = kNoChoice;
  for (const Tiling& tiling : tilings) {
    const double own = cost(tiling);
    if (!(own < least * 0.999)) continue;
    least = own;
    best = tiling;
  }
  return best;
}

}  // namespace aoe::compiler
