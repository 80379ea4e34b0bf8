// msprof advise: what the rules say about a profile, with the rows that show it.
#include <iostream>

#include "profiler/advice/advice.h"
#include "profiler/database/profile_directory.h"
#include "tools/common/flags.h"
#include "tools/common/tool.h"
#include "tools/msprof/commands.h"
#include "tools/msprof/directory_flag.h"
#include "tools/msprof/post_processing.h"
#include "tools/msprof/terminal_table.h"

namespace aoe::tools {
namespace {

void print(const profiler::Finding& finding, std::size_t number) {
  std::cout << number << ". " << finding.type << ": " << finding.subtype << "\n   "
            << finding.diagnosis.description << "\n   -> " << finding.diagnosis.suggestion << "\n";
  std::vector<TableColumn> columns;
  for (const std::string& column : finding.diagnosis.evidence.columns) columns.push_back({column});
  TerminalTable table("", std::move(columns));
  for (const auto& row : finding.diagnosis.evidence.rows) table.row(row);
  if (!table.is_empty()) table.print(std::cout);
  std::cout << '\n';
}

void advise_about(const std::filesystem::path& directory) {
  const profiler::Database profile = open_profile(directory);
  const std::vector<profiler::Finding> findings = profiler::advise(profile);
  const std::filesystem::path summaries = profiler::summary_directory(directory);
  profiler::make_directories(summaries);
  write_advice(findings, summaries / "prof_rule_0.json");
  std::cout << directory.string() << "\n\n";
  std::size_t number = 0;
  for (const profiler::Finding& finding : findings) print(finding, ++number);
  if (findings.empty()) std::cout << "No rule found anything to improve.\n";
}

}  // namespace

int run_advise_command(int argc, char** argv) {
  Tool tool{
      .name = "msprof advise",
      .synopsis = "msprof advise -dir DIR",
      .summary = "Prints what could be faster and how, with evidence; writes prof_rule_0.json."};
  DirectoryFlag directory(argc, argv);
  directory.declare(tool.flags);
  tool.run = [](const po::variables_map& flags) {
    for (const auto& path : DirectoryFlag::directories(flags)) advise_about(path);
    return ExitCode::kSuccess;
  };
  return run_tool(directory.argc(), directory.argv(), std::move(tool));
}

}  // namespace aoe::tools
