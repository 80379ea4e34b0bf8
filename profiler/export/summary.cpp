// The registry, and the loop over its tables.
#include "profiler/export/summary.h"

#include <algorithm>

#include "all_summaries.inc"
#include "profiler/database/profile_directory.h"

namespace aoe::profiler {

SummaryRegistry::SummaryRegistry() {
  register_all_summaries(*this);
}

std::vector<std::string> SummaryTable::all_columns(const Database& profile) const {
  std::vector<std::string> all = columns;
  if (more_columns)
    for (std::string& column : more_columns(profile)) all.push_back(std::move(column));
  return all;
}

std::vector<std::filesystem::path> export_summaries(const Database& profile,
                                                    const std::filesystem::path& directory,
                                                    const std::string& timestamp,
                                                    const SummaryOptions& options) {
  make_directories(directory);
  const bool is_prof = profile.generation() == Generation::kProf;
  const std::string suffix =
      is_prof ? "_" + export_suffix(timestamp, options.selection) : std::string();
  std::vector<std::filesystem::path> written;
  const SummaryRegistry registry;
  for (const SummaryTable& table : registry.tables()) {
    if (table.generation != profile.generation()) continue;
    if (std::find(options.left_out.begin(), options.left_out.end(), table.name) !=
        options.left_out.end())
      continue;
    const std::vector<SummaryPart> parts = table.parts
                                               ? table.parts(profile, options.selection)
                                               : std::vector<SummaryPart>{{.stem = table.name}};
    // As JSON it would have the name of a timeline.
    const std::vector<std::string> timelines = timeline_files();
    const bool needs_name =
        is_prof && options.format == SummaryFormat::kJson &&
        std::find(timelines.begin(), timelines.end(), table.name) != timelines.end();
    for (const SummaryPart& part : parts) {
      TableWriter writer({.directory = directory,
                          .stem = part.stem + (needs_name ? "_summary" : ""),
                          .suffix = suffix,
                          .format = options.format,
                          .rows_per_file = options.rows_per_file},
                         table.all_columns(profile));
      table.write({profile, options.selection, part.model}, writer);
      for (auto& path : writer.finish()) written.push_back(std::move(path));
    }
  }
  return written;
}

}  // namespace aoe::profiler
