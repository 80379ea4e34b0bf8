// One spdlog logger per folder, on stderr. Libraries log through it; only tools print.
// levels: error (we stop), warn (we go on with less), info (a handful of lines a run), debug (per task), trace (per candidate)
#pragma once

#include <spdlog/spdlog.h>

#include <memory>
#include <string>

namespace aoe {

/// The logger of a folder ("tuner", "bank", ...); created on first use; thread-safe.
std::shared_ptr<spdlog::logger> logger(const std::string& folder);

/// Level of all loggers, those created later included. Accepts debug, info, warning, error, null (= off), trace.
/// Returns false on any other word. The default is warning.
bool set_log_level(const std::string& level);

}  // namespace aoe
