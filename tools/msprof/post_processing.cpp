// Import and export with what is said about them.
#include "tools/msprof/post_processing.h"

#include <algorithm>
#include <iostream>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/file.h"
#include "base/json_file.h"
#include "profiler/database/profile_directory.h"
#include "profiler/export/summary.h"
#include "profiler/export/timeline.h"
#include "tools/msprof/advice_text.h"
#include "tools/msprof/say.h"

namespace aoe::tools {
namespace fs = std::filesystem;
using profiler::Database;
namespace {

bool is_left_out(const ExportRequest& request, const std::string& report) {
  return std::find(request.left_out.begin(), request.left_out.end(), report) !=
         request.left_out.end();
}

profiler::ExportSelection selection_of(const Database& profile, const ExportRequest& request) {
  profiler::ExportSelection selection;
  if (request.model_id)
    selection.iteration = profile.iteration(*request.model_id, request.iteration_id.value_or(1));
  return selection;
}

/// The database under the name that msprof gives it. The same file: a profile can be large.
void publish_database(const fs::path& directory, const std::string& timestamp) {
  const fs::path published = directory / ("msprof_" + timestamp + ".db");
  std::error_code failed;
  fs::remove(published, failed);
  fs::create_hard_link(profiler::database_path(directory), published, failed);
  if (failed)  // not every file system has links
    fs::copy_file(profiler::database_path(directory), published,
                  fs::copy_options::overwrite_existing, failed);
  if (failed) throw Error(ExitCode::kOutput, failed.message(), published.string());
}

void write_readme(const fs::path& directory) {
  write_file_atomically(
      directory / "README.txt",
      "msprof_*.json      timeline: open it in Perfetto (ui.perfetto.dev) or chrome://tracing\n"
      "step_trace_*.json  iterations\n"
      "ai_stack_time_*, thread_group_*, task_time_*, runtime_api_*, ge_*, ge_op_execute_*.json\n"
      "                   parts of that timeline, as older releases have them\n"
      "*.csv, *.json      summaries; docs/msprof.md explains every column\n"
      "prof_rule_0.json   advice; msprof advise -dir=... prints it\n"
      "Times are microseconds of CLOCK_MONOTONIC.\n");
}

/// Returns the advice that it wrote.
std::vector<profiler::Finding> export_files(const Database& profile, const fs::path& directory,
                                            const std::string& timestamp,
                                            const ExportRequest& request) {
  const profiler::ExportSelection selection = selection_of(profile, request);
  const bool is_prof = profile.generation() == profiler::Generation::kProf;
  if (request.timeline && !is_left_out(request, "timeline"))
    export_timelines(profile, profiler::timeline_directory(directory), timestamp, selection,
                     request.left_out);
  if (!request.summary) return {};
  const fs::path summaries = profiler::summary_directory(directory);
  export_summaries(
      profile, summaries, timestamp,
      {.format = request.format, .selection = selection, .left_out = request.left_out});
  // Advice is about all of it: that of one iteration would replace it.
  std::vector<profiler::Finding> findings;
  if (!selection.iteration && !is_left_out(request, "prof_rule")) {
    findings = advise(profile);
    write_advice(findings, summaries / "prof_rule_0.json");
  }
  if (is_prof) write_readme(summaries);
  return findings;
}

}  // namespace

void add_point_flags(po::options_description& flags) {
  flags.add_options()("fp_point", text("OP"), "training: the first forward op; default: found")(
      "bp_point", text("OP"), "training: the last backward op; default: found");
}

profiler::StepPoints points_of(const po::variables_map& flags) {
  return {.fp_point = text_of(flags, "fp_point"), .bp_point = text_of(flags, "bp_point")};
}

void parse_directory(const fs::path& directory, const profiler::StepPoints& points) {
  say("Start parse data in " + directory.string() + ".");
  const profiler::ImportResult result = profiler::import_raw(directory, points);
  for (const profiler::RawLoss& loss : result.losses)
    std::cerr << "msprof: warning: " << loss.file.string() << ": at " << loss.offset << ": "
              << loss.why << '\n';
}

Database open_profile(const fs::path& directory) {
  if (!fs::exists(profiler::database_path(directory))) parse_directory(directory);
  return Database(profiler::database_path(directory));
}

std::vector<profiler::Finding> export_directory(const fs::path& directory,
                                                const ExportRequest& request) {
  const Database profile = open_profile(directory);
  const std::string timestamp = profiler::timestamp_now();
  say("Start export data in " + directory.string() + ".");
  std::vector<profiler::Finding> findings;
  if (!request.database_only) findings = export_files(profile, directory, timestamp, request);
  if (profile.generation() == profiler::Generation::kProf) publish_database(directory, timestamp);
  if (request.clear) fs::remove_all(profiler::database_path(directory).parent_path());
  say("Export all data in " + directory.string() + " done.");
  return findings;
}

void process_collected(const fs::path& directory, const ExportRequest& request) {
  parse_directory(directory);
  say("Query all data in " + directory.string() + " done.");
  const std::vector<profiler::Finding> findings = export_directory(directory, request);
  if (request.database_only) return;
  std::cout << '\n';
  print_advice(findings);
}

std::vector<std::string> reports_left_out(const fs::path& file) {
  const nlohmann::json wanted = read_json_file(file, ExitCode::kData);
  if (!wanted.is_object())
    throw Error(ExitCode::kData, "is no JSON object", file.string(),
                "write {\"op_summary\": false, \"timeline\": true}");
  std::vector<std::string> known = profiler::timeline_layers();
  for (std::string& timeline : profiler::timeline_files()) known.push_back(std::move(timeline));
  known.insert(known.end(), {"timeline", "prof_rule"});
  const profiler::SummaryRegistry registry;
  for (const profiler::SummaryTable& table : registry.tables()) known.push_back(table.name);
  std::vector<std::string> left_out;
  for (const auto& [name, is_on] : wanted.items()) {
    if (std::find(known.begin(), known.end(), name) == known.end())
      throw Error(ExitCode::kUsage, "'" + name + "' is no report", file.string(),
                  "docs/msprof.md lists them");
    if (!is_on.is_boolean())
      throw Error(ExitCode::kUsage, "'" + name + "' is neither true nor false", file.string());
    if (!is_on.get<bool>()) left_out.push_back(name);
  }
  return left_out;
}

}  // namespace aoe::tools
