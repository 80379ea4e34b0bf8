// What follows a collection: import into the database, and export of all files.
#pragma once

#include <filesystem>

namespace aoe::tools {

enum class ExportAs { kText, kDatabase };  ///< kText: timelines and summaries beside the database

/// Of one PROF_* or JOB* directory, with the tooling's screen lines; warns of what was damaged. Throws Error.
void parse_and_export(const std::filesystem::path& directory, ExportAs type);

}  // namespace aoe::tools
