// Making files that nobody else has, and that nobody could have laid a link for.
#pragma once

#include <filesystem>

namespace aoe {

/// A new file beside `path`, under a name that cannot be foreseen: `made` receives it, to be renamed or removed. Returns a
/// descriptor for writing. Throws Error(kOutput).
int create_file_beside(const std::filesystem::path& path, unsigned mode,
                       std::filesystem::path& made);

}  // namespace aoe
