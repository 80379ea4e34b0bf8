// What happens to collected data: import, export, query. The sub-commands and a collection with
// --export=on call these; each says what it does in msprof's own lines.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "profiler/advice/advice.h"
#include "profiler/database/database.h"
#include "profiler/database/importer.h"
#include "profiler/export/table_writer.h"
#include "tools/common/flags.h"

namespace aoe::tools {

struct ExportRequest {
  profiler::SummaryFormat format = profiler::SummaryFormat::kCsv;
  std::optional<std::int64_t> model_id;  ///< both or none
  std::optional<std::int64_t> iteration_id;
  bool timeline = true;
  bool summary = true;
  bool database_only = false;  ///< --type=db
  bool clear = false;          ///< removes the imported database afterwards, but the exported one
  /// --reports: tables, layers of the timeline and "timeline" itself that are switched off.
  std::vector<std::string> left_out;
};

/// Imports the directory anew; what was lost is said on stderr. Throws Error.
void parse_directory(const std::filesystem::path& directory,
                     const profiler::StepPoints& points = {});
/// Imports first where that was not done yet.
profiler::Database open_profile(const std::filesystem::path& directory);
/// Returns the advice that it wrote; none with one iteration, --type=db, or prof_rule left out.
std::vector<profiler::Finding> export_directory(const std::filesystem::path& directory,
                                                const ExportRequest& request);

/// --fp_point and --bp_point of what imports.
void add_point_flags(po::options_description& flags);
profiler::StepPoints points_of(const po::variables_map& flags);

/// A collection's end: parse, query, export, with the lines of msprof around them; then the advice.
void process_collected(const std::filesystem::path& directory, const ExportRequest& request);

/// {"op_summary": false, "timeline": true}: the names that are false. Throws Error(kUsage) on a
/// report that does not exist, Error(kData) when it is no such file.
std::vector<std::string> reports_left_out(const std::filesystem::path& file);

}  // namespace aoe::tools
