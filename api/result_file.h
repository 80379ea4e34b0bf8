// The file of the option "result": what was tuned, won and spent, with a schema of ours and its version (docs/result_file.md).
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <vector>

#include "api/tuning_run.h"

namespace aoe::api {

/// One entry of "results".
nlohmann::ordered_json result_json(const RunReport& report, const Settings& settings);

/// One of several models of which nothing came.
struct ModelFailure {
  std::string name;
  ExitCode code = ExitCode::kFailure;
  std::string text;  ///< what the error says
};

/// Throws Error(kOutput).
void write_result_file(const std::filesystem::path& path,
                       const std::vector<nlohmann::ordered_json>& results,
                       const std::vector<ModelFailure>& failures);

}  // namespace aoe::api
