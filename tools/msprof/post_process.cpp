// A collection's end, in terms of what the sub-commands do.
#include "tools/msprof/post_process.h"

#include "tools/msprof/post_processing.h"

namespace aoe::tools {

void parse_and_export(const std::filesystem::path& directory, ExportAs type) {
  process_collected(directory, {.database_only = type == ExportAs::kDatabase});
}

}  // namespace aoe::tools
