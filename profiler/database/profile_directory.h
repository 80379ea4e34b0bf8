// Where things lie in a PROF_* or JOB* directory, and which directories a path means.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace aoe::profiler {

/// `path` itself when it is a profiling directory, else those right below it, sorted by name.
/// Throws Error(kData) when there are none.
std::vector<std::filesystem::path> profile_directories(const std::filesystem::path& path);

/// The imported database: device_0/sqlite/profile.db, or sqlite/profile.db of a JOB.
std::filesystem::path database_path(const std::filesystem::path& directory);
std::filesystem::path timeline_directory(const std::filesystem::path& directory);
std::filesystem::path summary_directory(const std::filesystem::path& directory);
/// mindstudio_profiler_log, or log of a JOB.
std::filesystem::path log_directory(const std::filesystem::path& directory);

/// With parents; Error(kOutput) when that fails.
void make_directories(const std::filesystem::path& directory);

/// "20261121103205", local time: the suffix of exported files.
std::string timestamp_now();

}  // namespace aoe::profiler
