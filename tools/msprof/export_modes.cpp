// The flag form: msprof --export=on, --parse=on, --query=on, --analyze=on, each with --output=DIR.
#include <iostream>

#include "profiler/database/profile_directory.h"
#include "tools/common/flags.h"
#include "tools/common/tool.h"
#include "tools/msprof/commands.h"
#include "tools/msprof/post_processing.h"
#include "tools/msprof/query_table.h"

namespace aoe::tools {
namespace fs = std::filesystem;
namespace {

void add_output(po::options_description& flags) {
  flags.add_options()("output", text("DIR")->required(),
                      "a PROF_* directory, or the one they lie in");
}

/// `flag` is the mode itself, which only `on` chooses.
void check_mode(const po::variables_map& flags, const std::string& flag) {
  const std::string value = text_of(flags, flag);
  if (value != "on") reject("--" + flag + "=" + value, "only 'on' has a meaning");
}

std::vector<fs::path> directories(const po::variables_map& flags) {
  return profiler::profile_directories(text_of(flags, "output"));
}

ExportRequest export_request(const po::variables_map& flags) {
  ExportRequest request;
  const std::string type = text_of(flags, "type");
  if (type != "text" && type != "db") reject("--type=" + type, "is neither text nor db");
  request.database_only = type == "db";
  for (const char* other : {"reports", "model-id", "iteration-id", "clear"})
    if (request.database_only && flags.contains(other))
      reject("--type=db", "allows only --output", "leave --" + std::string(other) + " out");
  request.format = summary_format(text_of(flags, "summary-format"), "--summary-format");
  request.model_id = number_of(flags, "model-id", 1, INT32_MAX);
  request.iteration_id = number_of(flags, "iteration-id", 1, INT32_MAX);
  if (request.model_id.has_value() != request.iteration_id.has_value())
    reject("--model-id, --iteration-id", "are only given together");
  if (flags.contains("reports")) request.left_out = reports_left_out(text_of(flags, "reports"));
  const std::string clear = text_of(flags, "clear");
  if (!clear.empty() && clear != "on" && clear != "off")
    reject("--clear=" + clear, "is neither on nor off");
  request.clear = clear == "on";
  return request;
}

}  // namespace

profiler::SummaryFormat summary_format(const std::string& value, const std::string& flag) {
  if (value == "csv") return profiler::SummaryFormat::kCsv;
  if (value == "json") return profiler::SummaryFormat::kJson;
  reject(flag + "=" + value, "is neither csv nor json");
}

int run_export_mode(int argc, char** argv) {
  Tool tool{.name = "msprof --export=on",
            .synopsis = "msprof --export=on --output=DIR [flags]",
            .summary = "Writes timelines, summaries, advice and the database of collected data."};
  auto add = tool.flags.add_options();
  add("export", text("on"), "this mode");
  add_output(tool.flags);
  add("type", text_or("text", "TYPE"), "text: json, csv and db; db: the database alone");
  add("summary-format", text_or("csv", "FORMAT"), "csv or json");
  add("model-id", po::value<int>()->value_name("N"), "only this model; with --iteration-id");
  add("iteration-id", po::value<int>()->value_name("N"), "only this execution of it, from 1");
  add("reports", text("FILE"), "JSON that switches reports off: {\"op_summary\": false}");
  add("clear", text("on|off"), "remove device_0/sqlite afterwards");
  tool.run = [](const po::variables_map& flags) {
    check_mode(flags, "export");
    const ExportRequest request = export_request(flags);
    for (const fs::path& directory : directories(flags)) export_directory(directory, request);
    return ExitCode::kSuccess;
  };
  return run_tool(argc, argv, std::move(tool));
}

int run_parse_mode(int argc, char** argv) {
  Tool tool{.name = "msprof --parse=on",
            .synopsis = "msprof --parse=on --output=DIR",
            .summary = "Imports collected data into a database, anew, and says what they hold."};
  tool.flags.add_options()("parse", text("on"), "this mode");
  add_output(tool.flags);
  add_point_flags(tool.flags);
  tool.run = [](const po::variables_map& flags) {
    check_mode(flags, "parse");
    for (const fs::path& directory : directories(flags))
      parse_directory(directory, points_of(flags));
    print_query(directories(flags));
    return ExitCode::kSuccess;
  };
  return run_tool(argc, argv, std::move(tool));
}

int run_query_mode(int argc, char** argv) {
  Tool tool{.name = "msprof --query=on",
            .synopsis = "msprof --query=on --output=DIR",
            .summary = "Shows which models and iterations collected data hold."};
  tool.flags.add_options()("query", text("on"), "this mode");
  add_output(tool.flags);
  tool.run = [](const po::variables_map& flags) {
    check_mode(flags, "query");
    print_query(directories(flags));
    return ExitCode::kSuccess;
  };
  return run_tool(argc, argv, std::move(tool));
}

int run_analyze_mode(int argc, char** argv) {
  Tool tool{.name = "msprof --analyze=on",
            .synopsis = "msprof --analyze=on --rule=communication --output=DIR",
            .summary = "Analyses communication between devices. One CPU has none, which is said."};
  auto add = tool.flags.add_options();
  add("analyze", text("on"), "this mode");
  add("rule", text_or("communication", "RULES"), "communication, communication_matrix");
  add_output(tool.flags);
  tool.run = [](const po::variables_map& flags) {
    check_mode(flags, "analyze");
    const std::string rules = text_of(flags, "rule");
    if (rules != "communication" && rules != "communication_matrix" &&
        rules != "communication,communication_matrix")
      reject("--rule=" + rules, "is not known", "communication and communication_matrix are");
    for (const fs::path& directory : directories(flags))
      std::cout << "[INFO] " << directory.string()
                << " holds one device: there is no communication to analyse." << std::endl;
    return ExitCode::kSuccess;
  };
  return run_tool(argc, argv, std::move(tool));
}

}  // namespace aoe::tools
