// Making files and directories that nobody else has, and that nobody could have laid a link for.
#pragma once

#include <filesystem>

namespace aoe {

/// A new file beside `path`, under a name that cannot be foreseen: `made` receives it, to be renamed or removed. Returns a
/// descriptor for writing. Throws Error(kOutput).
int create_file_beside(const std::filesystem::path& path, unsigned mode,
                       std::filesystem::path& made);

/// A path beside `path` that cannot be foreseen, where there is nothing.
std::filesystem::path unforeseen_name(const std::filesystem::path& path);

/// A new directory beside `path`, under such a name. Throws Error(kOutput).
std::filesystem::path create_directory_beside(const std::filesystem::path& path);

}  // namespace aoe
