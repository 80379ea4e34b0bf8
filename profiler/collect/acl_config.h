// The `profiler` object of acl.json, in both vocabularies.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>

#include "profiler/collect/options.h"

namespace aoe::profiler {

/// What the object asks for; nullopt when its switch is not "on". An object with a key that only SS928 has (aacpu, aac_metrics,
/// acl_api, interval) gives a JOB directory, any other a PROF directory. Without `output` it goes to ASCEND_WORK_PATH, else
/// to where the executable lies; with SS928 always to the latter, also when `output` is no directory. What has no effect
/// here is logged. Throws Error(kUsage) that names the key.
std::optional<CollectOptions> options_from_acl_json(const nlohmann::json& profiler);

}  // namespace aoe::profiler
