// One row per directory and model.
#include "tools/msprof/query_table.h"

#include <ctime>
#include <iostream>

#include "tools/common/terminal_table.h"
#include "tools/msprof/post_processing.h"

namespace aoe::tools {
namespace {

std::string date(std::int64_t unix_ns) {
  const std::time_t seconds = unix_ns / 1'000'000'000;
  std::tm local{};
  localtime_r(&seconds, &local);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S", &local);
  return text;
}

/// The five slowest, the slowest first: "12,3,7".
std::string slowest_iterations(const profiler::Database& profile, std::int64_t model_id) {
  profiler::Statement row = profile.connection().prepare(
      "SELECT iterationId FROM STEP_TRACE WHERE modelId = ? "
      "ORDER BY iterationNs DESC, iterationId LIMIT 5");
  row.bind(1, model_id);
  std::string list;
  while (row.step()) list += (list.empty() ? "" : ",") + std::to_string(row.integer(0));
  return list.empty() ? "N/A" : list;
}

}  // namespace

void print_query(const std::vector<std::filesystem::path>& directories) {
  TerminalTable table("", {{"Job Info"},
                           {"Device ID", Align::kRight},
                           {"Dir Name"},
                           {"Collection Time"},
                           {"Model ID", Align::kRight},
                           {"Iteration Number", Align::kRight},
                           {"Top Time Iteration"},
                           {"Rank ID", Align::kRight}});
  for (const auto& directory : directories) {
    const profiler::Database profile = open_profile(directory);
    std::string collected = "N/A";
    profiler::Statement time =
        profile.connection().prepare("SELECT startTimeNs FROM SESSION_TIME_INFO");
    if (time.step()) collected = date(time.integer(0));
    const auto add = [&](const std::string& model, const std::string& iterations,
                         const std::string& slowest) {
      table.row(
          {"NA", "0", directory.filename().string(), collected, model, iterations, slowest, "0"});
    };
    profiler::Statement models = profile.connection().prepare(
        "SELECT modelId, count(*) FROM MODEL_EXECUTION GROUP BY modelId ORDER BY modelId");
    bool has_models = false;
    while (models.step()) {
      has_models = true;
      add(std::to_string(models.integer(0)), std::to_string(models.integer(1)),
          slowest_iterations(profile, models.integer(0)));
    }
    if (!has_models) add("N/A", "N/A", "N/A");
  }
  table.print(std::cout);
}

}  // namespace aoe::tools
