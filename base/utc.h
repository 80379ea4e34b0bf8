// Moments as documents write them.
#pragma once

#include <chrono>
#include <string>

namespace aoe {

/// ISO 8601, whole seconds: "2026-11-22T23:29:15Z". Texts compare as the moments do.
std::string utc_text(std::chrono::system_clock::time_point moment);

}  // namespace aoe
