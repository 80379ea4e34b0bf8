// The directory of one collection: its name, and the files beside the data.
#pragma once

#include <cstdint>
#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <optional>

#include "profiler/collect/options.h"

namespace aoe::profiler {

/// One instant on both clocks.
struct ClockPoint {
  std::int64_t monotonic_ns;
  std::int64_t realtime_ns;
};
ClockPoint read_clocks();

/// Where the executable of this process lies; the current directory when nobody can tell.
std::filesystem::path executable_directory();
/// ASCEND_WORK_PATH, when it is set.
std::optional<std::filesystem::path> work_path();

/// Makes options.output when needed, and a new PROF_* or JOB* directory in it, with its data directories, sample.json and the
/// start files. Throws Error(kOutput).
std::filesystem::path make_directory(const CollectOptions& options, const ClockPoint& now);

/// info.json: process, machine, clocks and whatever `more` holds. Throws Error(kOutput).
void write_info(const std::filesystem::path& directory, const CollectOptions& options,
                const ClockPoint& start, const nlohmann::json& more);

/// end_info, which tells that the collection ended in an orderly way, and how many chunks each stream
/// then had (an array, by Stream). Throws Error(kOutput).
void write_end(const std::filesystem::path& directory, const CollectOptions& options,
               const ClockPoint& start, const ClockPoint& end, const nlohmann::json& chunks);

}  // namespace aoe::profiler
