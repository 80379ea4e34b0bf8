// schedule_value(): one axis of a Schedule, for turning it into an Impl's tiling.
#pragma once

#include <cstdint>
#include <string>

#include "bank/strategy.h"

namespace aoe::compiler {

/// The axis' value; `fallback` when the Schedule does not have it.
inline std::int64_t schedule_value(const bank::Schedule& schedule, const std::string& axis,
                                   std::int64_t fallback = 1) {
  const auto at = schedule.find(axis);
  return at == schedule.end() ? fallback : at->second;
}

}  // namespace aoe::compiler
