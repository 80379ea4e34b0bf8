// `--tune_ops_file`: which operators are tuned, and how.
#pragma once

#include <filesystem>
#include <set>
#include <string>

#include "tuner/tasks/op_filter.h"

namespace aoe::api {

struct OpsFile {
  tuner::OpFilter filter;          ///< "tune_ops_name", "tune_ops_type"
  std::string level;               ///< "tune_optimization_level": O1 or O2; empty: not said
  std::set<std::string> features;  ///< "feature": deeper_opat, op_format, nonhomo_split
};

/// Throws Error(kUsage) that names file and key: no JSON object, unknown keys and values, wrong
/// types, nothing in it.
OpsFile load_ops_file(const std::filesystem::path& path);

}  // namespace aoe::api
