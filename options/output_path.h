// Where outputs go that flags and variables name.
#pragma once

#include <filesystem>
#include <string>

namespace aoe::options {

/// "_linux_x86_64": what the names of oms with gears end in, for the hardware of `soc_version`.
std::string dynamic_om_suffix(const std::string& soc_version);

/// `given` with `suffix` and ".om" behind it; an ".om" that is there already is the one. Error(kOutput) that names the file and `flag` when its
/// directory does not exist or cannot be written: long work must not end there.
/// The same when a directory has the om's name.
std::filesystem::path om_output_path(const std::string& given, const std::string& flag,
                                     const std::string& suffix = {});

/// Whether files can be made there. Tries it: permissions do not tell of read-only and of special file systems.
bool is_writable_directory(const std::filesystem::path& directory);

}  // namespace aoe::options
