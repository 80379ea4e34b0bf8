// Prints how many events a second are imported and exported, and the memory that takes: synthetic raw
// data of a program that runs a model of 70 ops again and again.
//
//   profiler_import [--events=10000000] [--directory=DIR]
#include <fmt/core.h>
#include <sys/resource.h>

#include <boost/program_options.hpp>
#include <chrono>
#include <filesystem>

#include "profiler/database/importer.h"
#include "profiler/export/timeline.h"
#include "tests/profiler/synthetic_profile.h"
#include "tests/temp_dir.h"
#include "tools/common/tool.h"

namespace aoe {
namespace {
namespace fs = std::filesystem;
using profiler::Database;

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

double peak_rss_mb() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024;
}

double megabytes(const fs::path& path) {
  return static_cast<double>(fs::file_size(path)) / 1e6;
}

void print(const char* what, std::uint64_t events, double seconds, const fs::path& file) {
  fmt::print(
      "{:<10} {:>10} events {:>8.2f} s {:>12.0f} events/s {:>9.1f} MB written, peak RSS "
      "{:.0f} MB\n",
      what, events, seconds, static_cast<double>(events) / seconds, megabytes(file), peak_rss_mb());
}

fs::path make_raw_data(const fs::path& directory, std::uint64_t events) {
  constexpr std::uint32_t kOps = 70;
  profiler::tests::SyntheticProfile raw(directory, profiler::Generation::kProf);
  fill_with_runs(raw, static_cast<std::uint32_t>(events / (kOps + 2)), kOps);
  raw.flush();
  return raw.directory();
}

void measure(const fs::path& directory, std::uint64_t events) {
  const fs::path raw = make_raw_data(directory, events);
  fmt::print("raw data in {}, peak RSS {:.0f} MB\n", raw.string(), peak_rss_mb());
  auto start = std::chrono::steady_clock::now();
  const profiler::ImportResult result = profiler::import_raw(raw);
  print("import", result.events, seconds_since(start), result.database);

  const Database profile(result.database);
  start = std::chrono::steady_clock::now();
  const auto timelines = export_timelines(profile, raw / "mindstudio_profiler_output", "bench", {});
  print("timeline", result.events, seconds_since(start), timelines.front());
}

}  // namespace
}  // namespace aoe

int main(int argc, char** argv) {
  namespace po = boost::program_options;
  aoe::tools::Tool tool{
      .name = "profiler_import",
      .synopsis = "profiler_import [flags]",
      .summary = "How many events of a profile are imported and exported in a second."};
  tool.flags.add_options()(
      "events", po::value<std::uint64_t>()->default_value(10'000'000)->value_name("N"), "how many")(
      "directory", po::value<std::string>()->default_value("")->value_name("DIR"),
      "where the data are left; default: a temporary directory");
  tool.run = [](const po::variables_map& values) {
    const std::string given = values["directory"].as<std::string>();
    const aoe::tests::TempDir temporary;
    if (!given.empty()) std::filesystem::create_directories(given);
    aoe::measure(given.empty() ? temporary.path() : std::filesystem::path(given),
                 values["events"].as<std::uint64_t>());
    return aoe::ExitCode::kSuccess;
  };
  return aoe::tools::run_tool(argc, argv, std::move(tool));
}
