// Everything that decides a run: options, environment, preset and --tune_ops_file, read and checked. Options are the flags of aoe.
#pragma once

#include <boost/program_options.hpp>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "api/model_list.h"
#include "compiler/model_source.h"
#include "tuner/tuner.h"

namespace aoe::api {

enum class JobType { kSubgraphs = 1, kOperators = 2 };

struct Settings {
  JobType job_type = JobType::kOperators;
  compiler::ModelSource model;         ///< of each model; without a path unless --model was given
  std::string model_flags;             ///< those that say how models are read, as text
  std::filesystem::path model_path;    ///< a directory of models
  std::filesystem::path single_ops;    ///< a file of operators
  std::vector<ListedModel> models;     ///< --models
  std::string workers, slurm_args;     ///< --workers; empty: this machine measures
  int node_threads = 0;                ///< --threads; 0: as many as a node chooses
  std::string output;                  ///< as given
  std::filesystem::path result_file;   ///< --result; empty: none is wanted
  std::optional<double> time_limit_s;  ///< of everything
  std::int64_t max_trials = 0;         ///< of all models together; 0: no limit
  std::string tune_ops_file;           ///< as given, for messages about what stands in it
  std::filesystem::path work_path;     ///< ${ASCEND_WORK_PATH}, or where the process runs
  std::optional<std::string> reload;   ///< --reload and its value, which may be empty
  std::string tuning_name;             ///< empty: the model's
  bool takes_near = false;             ///< --op_bank_near=on
  tuner::TuneOptions tuning;           ///< without what belongs to one model or job
};

/// The flags of aoe.
void add_flags(boost::program_options::options_description& flags);

/// What the library takes besides: work_path, tuning_name, and what has no effect there.
void add_library_options(boost::program_options::options_description& options);

/// Throws Error(kUsage) and, for files, Error(kModel) or Error(kOutput). Makes no directory but the work path. `has_graph`: the
/// model was given by other means.
Settings read_settings(const boost::program_options::variables_map& options, bool has_graph);

/// The policy of a preset: a name (configs/tuning/<name>.json) or a file.
tuner::Policy load_preset(const std::string& name_or_file);

}  // namespace aoe::api
