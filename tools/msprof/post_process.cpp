// Import and export in a row.
#include "tools/msprof/post_process.h"

#include <iostream>

#include "profiler/database/importer.h"
#include "profiler/database/profile_directory.h"
#include "profiler/export/summary.h"
#include "profiler/export/timeline.h"

namespace aoe::tools {
namespace {

void say(const std::string& line) {
  std::cout << "[INFO] " << line << std::endl;
}

}  // namespace

void parse_and_export(const std::filesystem::path& directory, ExportAs type) {
  const std::string where = directory.string();
  say("Start parse data in " + where + ".");
  const profiler::ImportResult imported = profiler::import_raw(directory);
  for (const profiler::RawLoss& loss : imported.losses)
    std::cerr << "msprof: warning: " << loss.file.string() << " at " << loss.offset << ": "
              << loss.why << std::endl;
  say("Query all data in " + where + " done.");
  if (type == ExportAs::kDatabase) return;

  say("Start export data in " + where + ".");
  const profiler::Database profile(imported.database);
  const std::string timestamp = profiler::timestamp_now();
  profiler::export_timelines(profile, profiler::timeline_directory(directory), timestamp, {});
  profiler::export_summaries(profile, profiler::summary_directory(directory), timestamp, {});
  say("Export all data in " + where + " done.");
}

}  // namespace aoe::tools
