// Where an om goes that a flag names.
#pragma once

#include <filesystem>
#include <string>

namespace aoe::tools {

/// `given` with ".om" behind it, unless it is there already. Error(kOutput) that names the file and `flag` when its
/// directory does not exist or cannot be written: long work must not end there.
std::filesystem::path om_output_path(const std::string& given, const std::string& flag);

}  // namespace aoe::tools
