// The two layouts.
#include "profiler/database/profile_directory.h"

#include <algorithm>
#include <ctime>

#include "base/error.h"
#include "profiler/raw/raw_reader.h"

namespace aoe::profiler {
namespace fs = std::filesystem;
namespace {

bool is_profile_directory(const fs::path& path) {
  const std::string name = path.filename().string();
  std::error_code ignored;  // what cannot be looked into is no profiling directory
  return fs::is_directory(path / "host", ignored) ||
         (name.starts_with("JOB") && fs::is_directory(path / "data", ignored));
}

bool is_job(const fs::path& directory) {
  return generation_of_directory(directory) == Generation::kJob;
}

}  // namespace

std::vector<fs::path> profile_directories(const fs::path& given) {
  std::error_code failed;
  fs::path path = fs::absolute(given).lexically_normal();
  if (!path.has_filename()) path = path.parent_path();
  if (is_profile_directory(path)) return {path};
  std::vector<fs::path> found;
  for (const fs::directory_entry& entry : fs::directory_iterator(path, failed))
    if (is_profile_directory(entry.path())) found.push_back(entry.path());
  if (failed || found.empty())
    throw Error(ExitCode::kData, failed ? failed.message() : "holds no profiling data",
                given.string(), "give a PROF_* or JOB* directory, or the one they lie in");
  std::sort(found.begin(), found.end());
  return found;
}

fs::path database_path(const fs::path& directory) {
  return directory / (is_job(directory) ? "sqlite/profile.db" : "device_0/sqlite/profile.db");
}

fs::path timeline_directory(const fs::path& directory) {
  return directory / (is_job(directory) ? "timeline" : "mindstudio_profiler_output");
}

fs::path summary_directory(const fs::path& directory) {
  return directory / (is_job(directory) ? "summary" : "mindstudio_profiler_output");
}

fs::path log_directory(const fs::path& directory) {
  return directory / (is_job(directory) ? "log" : "mindstudio_profiler_log");
}

void make_directories(const fs::path& directory) {
  std::error_code failed;
  fs::create_directories(directory, failed);
  if (failed) throw Error(ExitCode::kOutput, failed.message(), directory.string());
}

std::string timestamp_now() {
  const std::time_t now = std::time(nullptr);
  std::tm local{};
  localtime_r(&now, &local);
  char text[32];
  std::strftime(text, sizeof text, "%Y%m%d%H%M%S", &local);
  return text;
}

}  // namespace aoe::profiler
