// Timelines: Chrome trace JSON for Perfetto, chrome://tracing and MindStudio Insight.
//
//   const std::vector<std::filesystem::path> files = export_timelines("PROF_...", {});
//
// Everything is streamed from the database; `ts` and `dur` are microseconds with three decimals,
// exact to the nanosecond, on CLOCK_MONOTONIC.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "profiler/database/database.h"

namespace aoe::profiler {

struct ExportSelection {
  std::optional<Iteration> iteration;  ///< none: all
};

/// PROF: msprof_<timestamp>.json, and step_trace_* and msprof_tx_* where there is something to
/// show. JOB: task_time and acl of each model, with names of their own (reference 6A). A file of an
/// earlier export with the same name is replaced.
/// `left_out` names layers of msprof_<timestamp>.json (timeline_layers()) that nobody wants.
std::vector<std::filesystem::path> export_timelines(const Database& profile,
                                                    const std::filesystem::path& directory,
                                                    const std::string& timestamp,
                                                    const ExportSelection& selection,
                                                    const std::vector<std::string>& left_out = {});
std::vector<std::string> timeline_layers();

}  // namespace aoe::profiler
