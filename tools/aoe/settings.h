// Everything that decides a run of aoe: flags, environment, preset and --tune_ops_file, read and checked.
#pragma once

#include <boost/program_options.hpp>
#include <filesystem>
#include <string>

#include "tools/common/model_flags.h"
#include "tuner/tuner.h"

namespace aoe::tools {

enum class JobType { kSubgraphs = 1, kOperators = 2 };

struct Settings {
  JobType job_type = JobType::kOperators;
  ModelFlags model;
  std::filesystem::path output;  ///< with ".om"; empty when --output was not given
  bool shows_progress = true;
  tuner::TuneOptions tuning;        ///< paths below are filled in, too
  std::filesystem::path tunespace;  ///< ${WORK_PATH}/aoe_workspace/<model>_<timestamp>/tunespace
};

void add_flags(boost::program_options::options_description& flags);

/// Throws Error(kUsage) and, for files, Error(kModel) or Error(kOutput). Makes no directory yet.
Settings read_settings(const boost::program_options::variables_map& flags);

/// The policy of a preset: a name (configs/tuning/<name>.json) or a file.
tuner::Policy load_preset(const std::string& name_or_file);

/// `--tune_ops_file`: {"tune_ops_name": [...], "tune_ops_type": [...]}.
tuner::OpFilter load_ops_file(const std::filesystem::path& path);

}  // namespace aoe::tools
