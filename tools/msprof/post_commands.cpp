// The word form: msprof import|export|query -dir DIR, as the scripts of both generations have it.
#include <iostream>

#include "base/error.h"
#include "profiler/database/profile_directory.h"
#include "tools/common/flags.h"
#include "tools/common/tool.h"
#include "tools/msprof/commands.h"
#include "tools/msprof/directory_flag.h"
#include "tools/msprof/post_processing.h"
#include "tools/msprof/query_table.h"

namespace aoe::tools {

int run_import_command(int argc, char** argv) {
  Tool tool{.name = "msprof import",
            .synopsis = "msprof import -dir DIR",
            .summary =
                "Imports a JOB* or PROF_* directory, or all that lie in DIR, into databases "
                "(sqlite/). Always anew."};
  DirectoryFlag directory(argc, argv);
  DirectoryFlag::declare(tool);
  add_point_flags(tool.flags);
  tool.run = [](const po::variables_map& flags) {
    for (const auto& path : DirectoryFlag::directories(flags))
      parse_directory(path, points_of(flags));
    return ExitCode::kSuccess;
  };
  return run_tool(directory.argc(), directory.argv(), std::move(tool));
}

int run_export_command(int argc, char** argv) {
  Tool tool{.name = "msprof export",
            .synopsis = "msprof export timeline|summary|db -dir DIR [flags]",
            .summary = "Writes timelines, summaries or the database; imports first if need be.",
            .examples =
                "  msprof export timeline -dir JOBxxx\n"
                "  msprof export summary -dir JOBxxx --format=json\n"};
  DirectoryFlag directory(argc, argv);
  auto add = tool.flags.add_options();
  add("what", text("WHAT"), "timeline, summary or db");
  tool.positional.add("what", 1);
  DirectoryFlag::declare(tool);
  add("format", text_or("csv", "FORMAT"), "of summaries: csv or json");
  add("model-id", po::value<int>()->value_name("N"), "only this model; with --iteration-id");
  add("iteration-id", po::value<int>()->value_name("N"), "only this execution of it, from 1");
  tool.run = [](const po::variables_map& flags) {
    const std::string what = text_of(flags, "what");
    if (what != "timeline" && what != "summary" && what != "db")
      throw Error(ExitCode::kUsage,
                  what.empty() ? "nothing to export given" : "cannot export '" + what + "'", {},
                  "say timeline, summary or db");
    ExportRequest request{.format = summary_format(text_of(flags, "format"), "--format"),
                          .model_id = number_of(flags, "model-id", 1, INT32_MAX),
                          .iteration_id = number_of(flags, "iteration-id", 1, INT32_MAX),
                          .timeline = what == "timeline",
                          .summary = what == "summary",
                          .database_only = what == "db"};
    if (request.model_id.has_value() != request.iteration_id.has_value())
      reject("--model-id, --iteration-id", "are only given together");
    for (const auto& path : DirectoryFlag::directories(flags)) export_directory(path, request);
    return ExitCode::kSuccess;
  };
  return run_tool(directory.argc(), directory.argv(), std::move(tool));
}

int run_query_command(int argc, char** argv) {
  Tool tool{.name = "msprof query",
            .synopsis = "msprof query -dir DIR",
            .summary = "Shows which models and iterations collected data hold."};
  DirectoryFlag directory(argc, argv);
  DirectoryFlag::declare(tool);
  tool.run = [](const po::variables_map& flags) {
    print_query(DirectoryFlag::directories(flags));
    return ExitCode::kSuccess;
  };
  return run_tool(directory.argc(), directory.argv(), std::move(tool));
}

}  // namespace aoe::tools
