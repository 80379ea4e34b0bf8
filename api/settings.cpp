// Reads options and environment into Settings.
#include "api/settings.h"

#include <nlohmann/json.hpp>

#include "api/failure.h"
#include "api/idle_options.h"
#include "api/ops_file.h"
#include "base/json_file.h"
#include "base/log.h"
#include "options/data_dirs.h"
#include "options/environment.h"
#include "options/flags.h"
#include "options/model_flags.h"
#include "options/output_path.h"
#include "options/single_op.h"
#include "tuner/fleet/launcher.h"

namespace aoe::api {
namespace fs = std::filesystem;
namespace po = boost::program_options;
using namespace options;
using nlohmann::json;
namespace {

/// --job_type, else AOE_MODE, which other entries of the tooling read.
JobType read_job_type(const po::variables_map& flags) {
  constexpr const char* kAdvice = "use 1 (subgraph tuning) or 2 (operator tuning)";
  const bool is_given = flags.contains("job_type");
  const std::string where = is_given ? "--job_type" : "AOE_MODE";
  const auto mode = number_variable("AOE_MODE", 1, 4);
  if (!is_given && !mode) reject("--job_type", "is required", kAdvice);
  const int job_type = is_given ? flags["job_type"].as<int>() : *mode;
  if (job_type == 4) reject(where, "4 is for gradients of several devices", kAdvice);
  if (job_type != 1 && job_type != 2)
    reject(where, std::to_string(job_type) + " is unknown", kAdvice);
  return static_cast<JobType>(job_type);
}

/// --device, else ASCEND_DEVICE_ID.
void check_device(const po::variables_map& flags) {
  constexpr int kMost = 1 << 20;
  const bool is_given = flags.contains("device");
  const int device = is_given ? flags["device"].as<int>()
                              : number_variable("ASCEND_DEVICE_ID", 0, kMost).value_or(0);
  if (device != 0)
    throw Failure(AOE_ERROR_NO_DEVICE, std::to_string(device) + " does not exist",
                  is_given ? "--device" : "ASCEND_DEVICE_ID", "this machine is device 0");
}

bool repeat_tune() {
  const std::string value = variable("REPEAT_TUNE").value_or("False");
  if (value == "True" || value == "true") return true;
  if (value == "False" || value == "false") return false;
  throw Error(ExitCode::kUsage, "'" + value + "' is neither True nor False", "REPEAT_TUNE");
}

bool was_given(const po::variables_map& flags, const std::string& flag) {
  return flags.contains(flag) && !flags[flag].defaulted();
}

/// O1 or O2, of the flag or of the file; empty when neither says.
std::string search_level(const po::variables_map& flags, const OpsFile& ops) {
  if (!was_given(flags, "tune_optimization_level")) return ops.level;
  const auto level = flags["tune_optimization_level"].as<std::string>();
  if (level != "O1" && level != "O2")
    reject("--tune_optimization_level", level + " is unknown", "use O1 (deep search) or O2");
  if (!ops.level.empty() && ops.level != level)
    reject("--tune_optimization_level", level + " contradicts " + ops.level + " of --tune_ops_file",
           "leave one out");
  return level;
}

/// What asks for a search of another length than presets have, as the user wrote it; empty: nothing does.
std::string deeper_search(const po::variables_map& flags, const OpsFile& ops) {
  const std::string level = search_level(flags, ops);
  const std::string file = " of --tune_ops_file";
  if (!level.empty())
    return ops.level.empty() ? "--tune_optimization_level=" + level
                             : "tune_optimization_level" + file;
  if (flags["Fdeeper_opat"].as<bool>()) return "--Fdeeper_opat";
  return ops.features.contains("deeper_opat") ? "deeper_opat" + file : std::string();
}

/// --preset, else what the documented flags and --tune_ops_file stand for.
std::string preset_name(const po::variables_map& flags, const OpsFile& ops) {
  const std::string deeper = deeper_search(flags, ops);
  if (flags.contains("preset")) {
    if (!deeper.empty()) reject("--preset", "and " + deeper + " exclude each other", "give one");
    return flags["preset"].as<std::string>();
  }
  const bool is_deeper = flags["Fdeeper_opat"].as<bool>() || ops.features.contains("deeper_opat");
  return search_level(flags, ops) == "O1" || is_deeper ? "deep" : "default";
}

/// Switches that the documents tie to one kind of tuning.
void check_switches(const po::variables_map& flags, JobType job_type) {
  for (const char* flag : {"Fdeeper_opat", "Fop_format"})
    if (flags[flag].as<bool>() && job_type != JobType::kOperators)
      reject("--" + std::string(flag), "is of operator tuning", "use --job_type=2");
  if (flags["Fnonhomo_split"].as<bool>() && job_type != JobType::kSubgraphs)
    reject("--Fnonhomo_split", "is of subgraph tuning", "use --job_type=1");
  if (flags["Fop_format"].as<bool>())
    logger("flags")->warn("--Fop_format has no effect: other formats are always tried");
}

/// A limit of 0 would read as "none"; nobody means that.
template <typename T>
std::optional<T> positive(const po::variables_map& flags, const std::string& flag) {
  if (!flags.contains(flag)) return std::nullopt;
  const T value = flags[flag].as<T>();
  if (!(value > 0)) reject("--" + flag, "must be positive");
  return value;
}

compiler::Soc host_soc(const po::variables_map& flags) {
  const compiler::Soc host = compiler::detect_soc(threads_of(flags));
  const auto wanted = flags["soc_version"].as<std::string>();
  if (wanted != "auto" && wanted != host.version)
    reject("--soc_version", "this machine is " + host.version + ", and tuning measures on it",
           "use auto, and atc to compile for other hardware");
  return host;
}

/// The option work_path, ${ASCEND_WORK_PATH}, else the directory of execution. Made if missing.
fs::path work_path(const po::variables_map& flags) {
  const std::string option = text_of(flags, "work_path");
  const auto named = option.empty() ? variable("ASCEND_WORK_PATH") : option;
  const fs::path path = named ? fs::absolute(*named) : fs::current_path();
  std::error_code status;
  fs::create_directories(path, status);
  const std::string source = !option.empty() ? "work_path " : named ? "ASCEND_WORK_PATH " : "";
  if (!is_writable_directory(path))
    throw Error(ExitCode::kOutput, "the directory for results cannot be written",
                source + path.string(), "set ASCEND_WORK_PATH to another one");
  return path;
}

fs::path result_file(const po::variables_map& flags) {
  fs::path file = text_of(flags, "result");
  if (!file.empty()) check_output_file(file, "--result");
  return file;
}

/// How the model is read: work that has the same is the same.
std::string model_flags_text(const po::variables_map& flags) {
  po::options_description about_the_model;
  add_model_flags(about_the_model);
  std::string text;
  for (const auto& option : about_the_model.options())
    if (const std::string& name = option->long_name(); name != "model" && flags.contains(name))
      text += "\n" + name + "=" + value_text(flags[name]);
  return text;
}

void read_models(const po::variables_map& flags, bool has_graph, Settings& settings) {
  if (has_graph) {
    for (const char* flag : {"model", "models", "model_path", "singleop"})
      if (flags.contains(flag))
        reject("--" + std::string(flag), "names a model, and the session has one", "give one");
  } else {
    require_one_of(flags, {"model", "models", "model_path", "singleop"});
  }
  settings.model = read_model_flags(flags);
  settings.model_flags = model_flags_text(flags);
  settings.model_path = text_of(flags, "model_path");
  if (flags.contains("models")) settings.models = read_model_list(text_of(flags, "models"));
  settings.single_ops = text_of(flags, "singleop");
  if (!settings.single_ops.empty()) check_flags_of_single_ops(flags);
}

void read_workers(const po::variables_map& flags, Settings& settings) {
  settings.workers = text_of(flags, "workers");
  settings.slurm_args = text_of(flags, "slurm_args");
  settings.node_threads = threads_of(flags);
  if (settings.workers.empty()) {
    if (!settings.slurm_args.empty()) reject("--slurm_args", "is for --workers=slurm");
    return;
  }
  (void)tuner::make_launcher(settings.workers, settings.slurm_args, {});  // what is wrong with it
}

void read_search(const po::variables_map& flags, Settings& settings) {
  tuner::TuneOptions& tuning = settings.tuning;
  const OpsFile ops =
      flags.contains("tune_ops_file") ? load_ops_file(text_of(flags, "tune_ops_file")) : OpsFile{};
  tuning.filter = ops.filter;
  settings.tune_ops_file = text_of(flags, "tune_ops_file");
  tuning.policy = load_preset(preset_name(flags, ops));
  settings.time_limit_s = positive<double>(flags, "time_limit");
  if (const auto limit_s = positive<double>(flags, "search_limit"))
    tuning.policy.search.time_limit_s = *limit_s;
  else if (settings.time_limit_s)
    tuning.policy.search.time_limit_s = 0;  // the search takes what the rest leaves
  settings.max_trials = positive<std::int64_t>(flags, "trials").value_or(0);
  tuning.seed = flags["seed"].as<std::uint64_t>();
}

}  // namespace

void add_flags(po::options_description& flags) {
  add_model_flags(flags);
  auto add = flags.add_options();
  add("job_type,j", po::value<int>()->value_name("1|2"),
      "1: subgraph tuning, 2: operator tuning; 1 first, then 2; default AOE_MODE");
  add("model_path", text("DIR"), "tune every .onnx file of the directory, instead of --model");
  add("models", text("LIST"),
      "tune these models: a file with a path a line, or paths with commas between, instead of "
      "--model");
  add("singleop", text("FILE"),
      "tune the operators that this JSON file describes, instead of --model");
  add("output", text("PATH"),
      "the tuned model, also there; .om is added; of several models the directory");
  add("soc_version", text_or("auto", "NAME"), "auto: this machine");
  add_threads_flag(flags, "tune for N threads; default OMP_NUM_THREADS, else all cores");
  add("workers", text("NODES"),
      "measure on these nodes: ssh:HOST,HOST, or slurm (slurm:16 for so many)");
  add("slurm_args", text("ARGS"), "what sbatch gets besides, with --workers=slurm");
  add("device", po::value<int>()->value_name("0"), "0: this machine; default ASCEND_DEVICE_ID");
  add("tune_ops_file", text("FILE"), "tune only the operators that this JSON file lists");
  add("op_bank_near", text_or("off", "on|off"),
      "on: operators that are not tuned take what won for the nearest shape; for --job_type=2");
  add("tune_optimization_level", text_or("O2", "LEVEL"), "O1: search several times longer");
  add("Fdeeper_opat", po::bool_switch(), "as --tune_optimization_level=O1; for --job_type=2");
  add("Fop_format", po::bool_switch(), "try other data formats, too (always on); for --job_type=2");
  add("reload", text("JOB")->implicit_value(""),
      "go on with an interrupted job (aoe_workspace/...), by default this model's most recent");
  add("preset", text("NAME"), "quick, default, deep, or a JSON file like those in configs/tuning");
  add("time_limit", po::value<double>()->value_name("SECONDS"),
      "of everything, from start to exit");
  add("search_limit", po::value<double>()->value_name("SECONDS"),
      "of the search alone; default from the preset, without --time_limit");
  add("result", text("FILE"), "what was tuned, won and spent, as JSON");
  add("trials", po::value<std::int64_t>()->value_name("N"),
      "measure at most N candidates in all; the closing races of the best are no trials");
  add("seed", po::value<std::uint64_t>()->default_value(1)->value_name("N"),
      "of the search's random numbers");
  add_idle_flags(flags, kIdleFlags);
}

void add_library_options(po::options_description& options) {
  options.add_options()("work_path", text("DIR"), "where files go; default ASCEND_WORK_PATH")(
      "tuning_name", text("NAME"), "what is written is called after it; default the model's")(
      "log", text("LEVEL"), "debug, info, warning, error or null");
  add_idle_flags(options, kIdleLibraryOptions);
}

tuner::Policy load_preset(const std::string& name_or_file) {
  const fs::path directory = config_directory() / "tuning";
  const fs::path known = directory / (name_or_file + ".json");
  std::error_code status;
  if (fs::is_regular_file(known, status))
    return tuner::policy_from_json(require_json_file(known, ExitCode::kUsage), known.string());
  const bool is_hidden = status == std::errc::permission_denied;
  if (fs::is_regular_file(name_or_file, status))
    return tuner::policy_from_json(require_json_file(name_or_file, ExitCode::kUsage), name_or_file);
  if (is_hidden || !fs::is_directory(directory, status))
    throw Error(ExitCode::kUsage,
                is_hidden ? "this user may not read the presets" : "there are no presets",
                directory.string(),
                "let AOE_CONFIG_DIR name the directory that holds soc and tuning, or unset it");
  reject("--preset",
         "'" + name_or_file + "' is neither a preset in " + directory.string() + " nor a file",
         "use quick, default or deep");
}

namespace {

bool takes_near(const po::variables_map& flags, JobType job_type) {
  if (!is_on(flags, "op_bank_near")) return false;
  if (job_type != JobType::kOperators)
    reject("--op_bank_near", "is for --job_type=2", "leave it out: subgraphs are measured");
  return true;
}

}  // namespace

Settings read_settings(const po::variables_map& flags, bool has_graph) {
  Settings settings;
  settings.job_type = read_job_type(flags);
  check_device(flags);
  check_switches(flags, settings.job_type);
  check_idle_flags(flags, kIdleFlags);
  check_idle_flags(flags, kIdleLibraryOptions);
  read_models(flags, has_graph, settings);
  settings.tuning.soc = host_soc(flags);
  settings.output = text_of(flags, "output");
  read_workers(flags, settings);
  settings.result_file = result_file(flags);
  read_search(flags, settings);
  settings.tuning.repeat_tune = repeat_tune();
  settings.tuning.compile_threads = compile_threads();
  if (flags.contains("reload")) settings.reload = text_of(flags, "reload");
  settings.tuning_name = text_of(flags, "tuning_name");
  settings.takes_near = takes_near(flags, settings.job_type);
  settings.work_path = work_path(flags);
  return settings;
}

}  // namespace aoe::api
