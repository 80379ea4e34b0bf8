// Everything that decides a run of aoe: flags, environment, preset and --tune_ops_file, read and checked.
#pragma once

#include <boost/program_options.hpp>
#include <filesystem>
#include <optional>
#include <string>

#include "tools/common/model_flags.h"
#include "tuner/session/job_journal.h"
#include "tuner/tuner.h"

namespace aoe::tools {

enum class JobType { kSubgraphs = 1, kOperators = 2 };

struct Settings {
  JobType job_type = JobType::kOperators;
  ModelFlags model;
  std::filesystem::path output;  ///< with ".om"; empty when --output was not given
  bool shows_progress = true;
  std::string tune_ops_file;          ///< as given, for messages about what stands in it
  std::filesystem::path work_path;    ///< ${ASCEND_WORK_PATH}, or where aoe runs
  std::string om_suffix;              ///< what dynamic oms' names end in, before ".om"
  std::optional<std::string> reload;  ///< --reload and its value, which may be empty
  tuner::JobHeader job;
  tuner::TuneOptions tuning;  ///< without what belongs to the job (job.h)
};

void add_flags(boost::program_options::options_description& flags);

/// Throws Error(kUsage) and, for files, Error(kModel) or Error(kOutput). Makes no directory yet.
Settings read_settings(const boost::program_options::variables_map& flags);

/// The policy of a preset: a name (configs/tuning/<name>.json) or a file.
tuner::Policy load_preset(const std::string& name_or_file);

}  // namespace aoe::tools
