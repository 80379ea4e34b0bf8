// Reads flags and environment into Settings.
#include "tools/aoe/settings.h"

#include <unistd.h>

#include <nlohmann/json.hpp>
#include <optional>

#include "base/error.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/nesting.h"
#include "tools/aoe/ops_file.h"
#include "tools/common/data_dirs.h"
#include "tools/common/environment.h"
#include "tools/common/flags.h"
#include "tools/common/output_path.h"
#include "tuner/result/aoe_result.h"

namespace aoe::tools {
namespace fs = std::filesystem;
using nlohmann::json;
namespace {

json parse_json(const fs::path& path) {
  const std::string text = read_file(path, ExitCode::kUsage);
  json content(json::value_t::discarded);
  if (nests_little_json(text)) content = json::parse(text, nullptr, false);
  if (content.is_discarded()) throw Error(ExitCode::kUsage, "is not valid JSON", path.string());
  return content;
}

JobType read_job_type(const po::variables_map& flags) {
  constexpr const char* kAdvice = "use 1 (subgraph tuning) or 2 (operator tuning)";
  if (!flags.contains("job_type")) reject("--job_type", "is required", kAdvice);
  const int job_type = flags["job_type"].as<int>();
  if (job_type != 1 && job_type != 2)
    reject("--job_type", std::to_string(job_type) + " is unknown", kAdvice);
  return static_cast<JobType>(job_type);
}

void check_device(const po::variables_map& flags) {
  const int device = flags["device"].as<int>();
  if (device != 0)
    reject("--device", std::to_string(device) + " does not exist", "this machine is device 0");
}

bool is_on(const po::variables_map& flags, const std::string& flag) {
  const auto value = flags[flag].as<std::string>();
  if (value != "on" && value != "off") reject("--" + flag, "'" + value + "' is neither on nor off");
  return value == "on";
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

/// --preset, else what the documented flags and --tune_ops_file stand for.
std::string preset_name(const po::variables_map& flags, const OpsFile& ops) {
  const std::string level = search_level(flags, ops);
  const bool is_deeper = flags["Fdeeper_opat"].as<bool>() || ops.features.contains("deeper_opat");
  if (!flags.contains("preset")) return level == "O1" || is_deeper ? "deep" : "default";
  if (!level.empty() || is_deeper)
    reject("--preset", "and tune_optimization_level or deeper_opat exclude each other", "give one");
  return flags["preset"].as<std::string>();
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

/// ${ASCEND_WORK_PATH}, made if missing, else the directory of execution.
fs::path work_path() {
  const auto named = variable("ASCEND_WORK_PATH");
  const fs::path path = named ? fs::absolute(*named) : fs::current_path();
  std::error_code status;
  fs::create_directories(path, status);
  if (!is_writable_directory(path))
    throw Error(ExitCode::kOutput, "the directory for results cannot be written",
                (named ? "ASCEND_WORK_PATH " : "") + path.string(),
                "set ASCEND_WORK_PATH to another one");
  return path;
}

/// The model's bytes and the flags that say how they are read: work that has the same is the same.
std::string digest_of_model(const fs::path& model, const po::variables_map& flags) {
  po::options_description about_the_model;
  add_model_flags(about_the_model);
  std::string text = to_hex(hash128(read_file(model, ExitCode::kModel)));
  for (const auto& option : about_the_model.options())
    if (const std::string& name = option->long_name(); name != "model" && flags.contains(name))
      text += "\n" + name + "=" + value_text(flags[name]);
  return to_hex(hash128(text));
}

tuner::JobHeader job_header(const Settings& settings, const po::variables_map& flags) {
  const std::string timestamp = tuner::timestamp17(std::chrono::system_clock::now());
  const fs::path result = settings.work_path / tuner::result_file_name(timestamp, ::getpid());
  return {.tuning_name = settings.tuning.tuning_name,
          .job_type = static_cast<int>(settings.job_type),
          .model = digest_of_model(settings.model.model, flags),
          .soc_version = settings.tuning.soc.version,
          .timestamp = timestamp,
          .result = result.string()};
}

}  // namespace

void add_flags(po::options_description& flags) {
  add_model_flags(flags);
  auto add = flags.add_options();
  add("job_type,j", po::value<int>()->value_name("1|2"),
      "1: subgraph tuning, 2: operator tuning; 1 first, then 2");
  add("output", text("PATH"), "the tuned model, also there; .om is added");
  add("soc_version", text_or("auto", "NAME"), "auto: this machine");
  add_threads_flag(flags, "tune for N threads; default OMP_NUM_THREADS, else all cores");
  add("device", number_or(0, "0"), "0: this machine");
  add("tune_ops_file", text("FILE"), "tune only the operators that this JSON file lists");
  add("tune_optimization_level", text_or("O2", "LEVEL"), "O1: search several times longer");
  add("Fdeeper_opat", po::bool_switch(), "as --tune_optimization_level=O1");
  add("Fop_format", po::bool_switch(), "try other data formats, too (always on)");
  add("reload", text("JOB")->implicit_value(""),
      "go on with an interrupted job (aoe_workspace/...), by default this model's most recent");
  add("progress_bar", text_or("on", "on|off"), "progress on the terminal");
  add("preset", text("NAME"), "quick, default, deep, or a JSON file like those in configs/tuning");
  add("time_limit", po::value<double>()->value_name("SECONDS"),
      "of the search; default from the preset");
  add("trials", po::value<std::int64_t>()->value_name("N"),
      "measure at most N candidates in all; the closing races of the best are no trials");
  add("seed", po::value<std::uint64_t>()->default_value(1)->value_name("N"),
      "of the search's random numbers");
}

tuner::Policy load_preset(const std::string& name_or_file) {
  const fs::path directory = config_directory() / "tuning";
  const fs::path known = directory / (name_or_file + ".json");
  if (fs::is_regular_file(known)) return tuner::policy_from_json(parse_json(known), known.string());
  if (fs::is_regular_file(name_or_file))
    return tuner::policy_from_json(parse_json(name_or_file), name_or_file);
  reject("--preset",
         "'" + name_or_file + "' is neither a preset in " + directory.string() + " nor a file",
         "use quick, default or deep");
}

Settings read_settings(const po::variables_map& flags) {
  Settings settings;
  settings.job_type = read_job_type(flags);
  check_device(flags);
  settings.model = read_model_flags(flags);
  settings.shows_progress = is_on(flags, "progress_bar");

  tuner::TuneOptions& tuning = settings.tuning;
  tuning.soc = host_soc(flags);
  if (settings.model.gears) settings.om_suffix = dynamic_om_suffix(tuning.soc.version);
  if (flags.contains("output"))
    settings.output =
        om_output_path(flags["output"].as<std::string>(), "--output", settings.om_suffix);
  const OpsFile ops =
      flags.contains("tune_ops_file") ? load_ops_file(text_of(flags, "tune_ops_file")) : OpsFile{};
  tuning.filter = ops.filter;
  settings.tune_ops_file = text_of(flags, "tune_ops_file");
  tuning.policy = load_preset(preset_name(flags, ops));
  if (const auto limit_s = positive<double>(flags, "time_limit"))
    tuning.policy.search.time_limit_s = *limit_s;
  tuning.max_trials = positive<std::int64_t>(flags, "trials").value_or(0);
  tuning.seed = flags["seed"].as<std::uint64_t>();
  tuning.repeat_tune = repeat_tune();
  if (flags.contains("reload")) settings.reload = text_of(flags, "reload");
  tuning.compile_threads = compile_threads();
  tuning.tuning_name = settings.model.model.stem().string();

  settings.work_path = work_path();
  settings.job = job_header(settings, flags);
  return settings;
}

}  // namespace aoe::tools
