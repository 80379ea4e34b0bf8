// JSON in files: configuration, descriptions, what other programs write.
#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>

#include "base/error.h"

namespace aoe {

/// Discarded, as by json_or_discarded(), when the file holds no JSON: what it should hold is the caller's to say. Throws
/// Error(`code`) when it cannot be read.
nlohmann::json read_json_file(const std::filesystem::path& path, ExitCode code);

/// The same; throws Error(`code`) "is not valid JSON" too.
nlohmann::json require_json_file(const std::filesystem::path& path, ExitCode code);

}  // namespace aoe
