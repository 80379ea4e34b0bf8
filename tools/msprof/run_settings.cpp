// msprof's own flags, and those that option_keys.h has for every front.
#include "tools/msprof/run_settings.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <sstream>

#include "base/error.h"
#include "options/environment.h"
#include "profiler/collect/option_keys.h"

namespace aoe::tools {
namespace {

namespace fs = std::filesystem;
using profiler::CollectOptions;
using profiler::GivenValue;

struct Flag {
  const char* name;
  const char* value_name;
  const char* meaning;
};

/// How msprof runs; what a collection is to hold stands in profiler/collect/option_keys.h.
constexpr Flag kFlags[] = {
    {"application", "\"APP ARGS\"", "the program, instead of naming it after the flags"},
    {"type", "text|db", "export files and database (default), or the database alone"},
    {"environment", "\"K=V;K2=V2\"", "variables of the program"},
    {"sys-period", "SECONDS", "without a program: how long to collect system data"},
    {"dynamic", "on|off", "take start, stop and quit from the terminal; with --pid"},
    {"pid", "PID", "with --dynamic: the program, started with PROFILING_MODE=dynamic"},
    {"export", "on|off", "parse and export afterwards (default on)"},
};

std::string flag_of(const profiler::OptionKey& key) {
  std::string name = key.name;
  std::replace(name.begin(), name.end(), '_', '-');
  return name;
}

/// The flags as they were given.
class Given {
 public:
  explicit Given(const po::variables_map& flags) : flags_(flags) {}

  bool has(const char* flag) const { return flags_.contains(flag); }
  std::string text(const char* flag) const { return text_of(flags_, flag); }
  GivenValue value(const char* flag) const { return {std::string("--") + flag, text(flag)}; }

  bool is_on(const char* flag, bool fallback) const {
    return has(flag) ? profiler::on_or_off(value(flag)) : fallback;
  }
  std::string one_of(const char* flag, std::initializer_list<std::string_view> words) const {
    return profiler::one_of(value(flag), words);
  }
  double number(const char* flag, double least, double most) const {
    return profiler::number(value(flag), least, most);
  }

 private:
  const po::variables_map& flags_;
};

void apply_options(const Given& given, CollectOptions& options, std::vector<std::string>& unused) {
  for (const profiler::OptionKey& key : profiler::option_keys()) {
    const std::string flag = flag_of(key);
    if ((key.fronts & profiler::kMsprof) != 0 && given.has(flag.c_str()))
      key.apply(options, given.value(flag.c_str()), unused);
  }
}

/// ASCEND_WORK_PATH, else the current directory, or the program's with --application.
fs::path default_output(const Given& given, const std::vector<std::string>& command) {
  if (const auto work_path = variable("ASCEND_WORK_PATH")) return *work_path;
  if (given.has("application") && !command.empty())
    if (const fs::path parent = fs::path(command.front()).parent_path(); !parent.empty())
      return parent;
  return fs::current_path();
}

std::map<std::string, std::string> environment_of(const Given& given) {
  std::map<std::string, std::string> environment;
  std::istringstream pairs(given.text("environment"));
  for (std::string pair; std::getline(pairs, pair, ';');) {
    if (pair.empty()) continue;
    const std::size_t equals = pair.find('=');
    if (equals == std::string::npos || equals == 0)
      reject("--environment", "'" + pair + "' is not NAME=VALUE", "separate them by ';'");
    environment[pair.substr(0, equals)] = pair.substr(equals + 1);
  }
  return environment;
}

std::vector<std::string> command_of(const Given& given, const std::vector<std::string>& words) {
  if (!given.has("application")) return words;
  if (!words.empty())
    reject("--application", "a program is named behind the flags as well", "give it once");
  const std::vector<std::string> command = po::split_unix(given.text("application"));
  if (command.empty()) reject("--application", "names no program");
  return command;
}

int dynamic_pid_of(const Given& given, const std::vector<std::string>& command) {
  for (const char* other : {"delay", "duration", "sys-period"})
    if (given.has(other))
      reject(std::string("--") + other, "cannot be given with --dynamic", "leave it out");
  if (!given.has("pid") || !command.empty())
    reject("--dynamic", "attaches to a program that runs",
           "start it with PROFILING_MODE=dynamic in its environment, and name it by --pid");
  return static_cast<int>(given.number("pid", 1, 1 << 30));
}

double system_period_of(const Given& given) {
  constexpr double kMostSeconds = 30.0 * 24 * 3600;
  return given.has("sys-period") ? given.number("sys-period", 0, kMostSeconds) : 0;
}

}  // namespace

void add_run_flags(po::options_description& flags) {
  for (const Flag& flag : kFlags)
    flags.add_options()(flag.name, text(flag.value_name), flag.meaning);
  for (const profiler::OptionKey& key : profiler::option_keys())
    if ((key.fronts & profiler::kMsprof) != 0)
      flags.add_options()(flag_of(key).c_str(), text(key.values), key.meaning);
}

RunSettings run_settings(const po::variables_map& flags, const std::vector<std::string>& words) {
  const Given given(flags);
  RunSettings settings;
  settings.command = command_of(given, words);
  settings.environment = environment_of(given);
  if (given.has("type") && given.one_of("type", {"text", "db"}) == "db")
    settings.type = ExportAs::kDatabase;
  settings.exports = given.is_on("export", true);

  CollectOptions& options = settings.options;
  options = profiler::default_options(profiler::kMsprof);
  if (!given.has("output"))
    options.output =
        profiler::output_path({"--output", default_output(given, settings.command).string()});
  apply_options(given, options, settings.without_effect);

  settings.system_period_s = system_period_of(given);
  if (given.is_on("dynamic", false)) {
    settings.dynamic_pid = dynamic_pid_of(given, settings.command);
    return settings;
  }
  if (given.has("pid")) reject("--pid", "means nothing without --dynamic=on", "add it");
  if (settings.command.empty() && settings.system_period_s <= 0)
    throw Error(ExitCode::kUsage, "no program to collect", {},
                "name it behind the flags: msprof --output=DIR ./app arguments");
  if (settings.command.empty() && !options.system.any())
    reject("--sys-period", "no system data is asked for", "add --sys-profiling=on, for example");
  return settings;
}

}  // namespace aoe::tools
