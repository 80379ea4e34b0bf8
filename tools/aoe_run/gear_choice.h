// Which gear a run takes: the one that --gear names, else the first that fits the given inputs.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tools/aoe_run/session.h"

namespace aoe::tools {

/// Index into `gears`, which are those of the model. Throws Error(kUsage) when `wanted` (empty: none)
/// is no gear, Error(kData) when no gear has the shapes of the given inputs.
std::size_t choose_gear(const std::vector<Gear>& gears, const std::vector<Port>& ports,
                        const std::vector<std::optional<Constant>>& given,
                        const std::string& wanted);

}  // namespace aoe::tools
