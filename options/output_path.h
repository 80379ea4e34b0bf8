// Where outputs go that flags and variables name.
#pragma once

#include <filesystem>
#include <string>

namespace aoe::options {

/// "_linux_x86_64": what the names of oms with gears end in, for the hardware of `soc_version`.
std::string dynamic_om_suffix(const std::string& soc_version);

/// Error(kOutput) that names the file and `flag` when its directory does not exist or cannot be written, or when a directory
/// has its name: long work must not end there.
void check_output_file(const std::filesystem::path& path, const std::string& flag);

/// Error(kUsage) when the output would replace `other`, which is `what`: "the model". Devices may be read and written.
void check_is_another_file(const std::filesystem::path& path, const std::string& flag,
                           const std::filesystem::path& other, const std::string& what);

/// `given` with `suffix` and ".om" behind it; an ".om" that is there already is the one. Checked as above.
std::filesystem::path om_output_path(const std::string& given, const std::string& flag,
                                     const std::string& suffix = {});

/// Whether files can be made there. Tries it: permissions do not tell of read-only and of special file systems.
bool is_writable_directory(const std::filesystem::path& directory);

}  // namespace aoe::options
