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

/// What stands behind the names of a PROF's files: the timestamp, or of one iteration
/// "{device}_{model}_{iteration}", so that it never replaces the export of all.
std::string export_suffix(const std::string& timestamp, const ExportSelection& selection);

/// PROF: msprof_<suffix>.json, and the others of timeline_files() where there is something to show.
/// JOB: task_time and acl of each model, with names of their own (reference 6A). A file of an
/// earlier export with the same name is replaced.
/// `left_out` names files (timeline_files()), or layers of msprof_<suffix>.json
/// (timeline_layers()), that nobody wants.
std::vector<std::filesystem::path> export_timelines(const Database& profile,
                                                    const std::filesystem::path& directory,
                                                    const std::string& timestamp,
                                                    const ExportSelection& selection,
                                                    const std::vector<std::string>& left_out = {});
std::vector<std::string> timeline_layers();
std::vector<std::string> timeline_files();

}  // namespace aoe::profiler
