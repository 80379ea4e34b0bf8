// Names in a graph of all gears, where gear_prefix() (gears.h) stands in front of them.
#pragma once

#include <string_view>

namespace aoe {

/// `name` without the prefix of its gear; as it is when there is none.
std::string_view without_gear(std::string_view name);

}  // namespace aoe
