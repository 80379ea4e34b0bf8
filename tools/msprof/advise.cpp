// msprof advise: what the rules say about a profile, with the rows that show it.
#include <iostream>

#include "profiler/advice/advice.h"
#include "profiler/database/profile_directory.h"
#include "tools/common/flags.h"
#include "tools/common/tool.h"
#include "tools/msprof/advice_text.h"
#include "tools/msprof/commands.h"
#include "tools/msprof/directory_flag.h"
#include "tools/msprof/post_processing.h"

namespace aoe::tools {
namespace {

void advise_about(const std::filesystem::path& directory) {
  const profiler::Database profile = open_profile(directory);
  const std::vector<profiler::Finding> findings = profiler::advise(profile);
  const std::filesystem::path summaries = profiler::summary_directory(directory);
  profiler::make_directories(summaries);
  write_advice(findings, summaries / "prof_rule_0.json");
  std::cout << directory.string() << "\n\n";
  print_advice(findings);
}

}  // namespace

int run_advise_command(int argc, char** argv) {
  Tool tool{
      .name = "msprof advise",
      .synopsis = "msprof advise -dir DIR",
      .summary = "Prints what could be faster and how, with evidence; writes prof_rule_0.json."};
  DirectoryFlag directory(argc, argv);
  DirectoryFlag::declare(tool);
  tool.run = [](const po::variables_map& flags) {
    for (const auto& path : DirectoryFlag::directories(flags)) advise_about(path);
    return ExitCode::kSuccess;
  };
  return run_tool(directory.argc(), directory.argv(), std::move(tool));
}

}  // namespace aoe::tools
