// Whole files: read, and write by rename so that nothing half-written is ever seen.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>

#include "base/error.h"

namespace aoe {

/// Throws Error(`code`) that names the file and the cause ("No such file or directory", "is a directory").
std::string read_file(const std::filesystem::path& path, ExitCode code);

/// Writes beside `path` and renames; straight into a device, a pipe or a standard stream. Throws Error(kOutput). `sync` makes file and name survive a power loss.
void write_file_atomically(const std::filesystem::path& path, std::string_view bytes,
                           bool sync = false);

/// The same of pieces that stand one behind the other.
void write_file_atomically(const std::filesystem::path& path,
                           std::span<const std::string_view> pieces, bool sync = false);

/// fsync of a file, or of a directory, which makes the names in it survive a power loss. Throws Error(kOutput).
void sync_path(const std::filesystem::path& path);

}  // namespace aoe
