// Where outputs go that flags and variables name.
#pragma once

#include <filesystem>
#include <string>

namespace aoe::tools {

/// `given` with ".om" behind it, unless it is there already. Error(kOutput) that names the file and `flag` when its
/// directory does not exist or cannot be written: long work must not end there.
/// The same when a directory has the om's name.
std::filesystem::path om_output_path(const std::string& given, const std::string& flag);

/// Whether files can be made there. Tries it: permissions do not tell of read-only and of special file systems.
bool is_writable_directory(const std::filesystem::path& directory);

}  // namespace aoe::tools
