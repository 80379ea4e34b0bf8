// Making files and directories that nobody else has, and that nobody could have laid a link for. Until they have their names they
// are unfinished: who ends the process meanwhile removes them.
#pragma once

#include <filesystem>
#include <functional>

#include "base/descriptor.h"

namespace aoe {

/// A new file beside `path`, under a name that cannot be foreseen: `made` receives it, to be renamed or removed, and then
/// forgotten. Returns it open for writing. Throws Error(kOutput).
Descriptor create_file_beside(const std::filesystem::path& path, unsigned mode,
                              std::filesystem::path& made);

/// A path beside `path` that cannot be foreseen, where there is nothing.
std::filesystem::path unforeseen_name(const std::filesystem::path& path);

/// A new directory beside `path`, under such a name; to be forgotten before it gets another. Throws Error(kOutput).
std::filesystem::path create_directory_beside(const std::filesystem::path& path);

/// What `make` has made, and returns the path of, is unfinished until forget_unfinished().
std::filesystem::path make_unfinished(const std::function<std::filesystem::path()>& make);

/// It has its name, or is removed.
void forget_unfinished(const std::filesystem::path& path);

/// Removes all that is unfinished and ends the process, whatever its other threads do. Not for signal handlers.
[[noreturn]] void end_without_leftovers(int exit_code);

}  // namespace aoe
