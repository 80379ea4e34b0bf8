// One table row for each flag of the tooling's msprof.
#include "tools/msprof/run_settings.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <span>
#include <sstream>

#include "base/error.h"
#include "profiler/collect/option_values.h"
#include "tools/common/environment.h"

namespace aoe::tools {
namespace {

namespace fs = std::filesystem;
using profiler::CollectOptions;
using profiler::GivenValue;
using profiler::TaskTime;

struct Flag {
  const char* name;
  const char* value_name;
  const char* meaning;
};

constexpr Flag kFlags[] = {
    {"application", "\"APP ARGS\"", "the program, instead of naming it after the flags"},
    {"output", "DIR",
     "where PROF_* directories go; default: ASCEND_WORK_PATH, else here, or with --application "
     "beside the program"},
    {"type", "text|db", "export files and database (default), or the database alone"},
    {"environment", "\"K=V;K2=V2\"", "variables of the program"},
    {"storage-limit", "200MB", "bound of the raw data; the oldest go first"},
    {"ascendcl", "on|off", "calls of AscendCL (default on)"},
    {"acl-api", "on|off", "the same"},
    {"runtime-api", "on|off", "what the runtime launches for them (default off)"},
    {"task-time", "l0|l1|on|off", "times of ops; l0: without what they are (default on = l1)"},
    {"aicpu", "on|off", "details of ops on the reference path (default off)"},
    {"ai-core", "on|off", "hardware counters of ops (default on with task-time on)"},
    {"aic-mode", "task-based|sample-based", "counters are task-based here"},
    {"aic-metrics", "GROUP",
     "group of hardware counters (default PipeUtilization), or Custom:0x49,0x8"},
    {"task-memory", "on|off", "memory that models and programs allocate (default on)"},
    {"msproftx", "on|off", "stamps and ranges of the program (default off)"},
    {"host-sys", "cpu,mem", "CPU time and memory of the program"},
    {"host-sys-usage", "cpu,mem", "the same, and of the whole machine"},
    {"host-sys-usage-freq", "1..50", "samples a second (default 50)"},
    {"host-sys-pid", "PID", "without a program: of which process"},
    {"sys-cpu-profiling", "on|off", "CPU time of the machine, by core"},
    {"sys-cpu-freq", "1..50", "samples a second"},
    {"sys-profiling", "on|off", "CPU time and memory of the machine"},
    {"sys-sampling-freq", "1..10", "samples a second"},
    {"sys-pid-profiling", "on|off", "CPU time and memory of the program"},
    {"sys-pid-sampling-freq", "1..10", "samples a second"},
    {"sys-period", "SECONDS", "without a program: how long to collect system data"},
    {"dynamic", "on|off", "take start, stop and quit from the terminal; with --pid"},
    {"pid", "PID", "with --dynamic: the program, started with PROFILING_MODE=dynamic"},
    {"delay", "SECONDS", "begin so long after the program's aclInit"},
    {"duration", "SECONDS", "collect for so long; the program goes on"},
    {"export", "on|off", "parse and export afterwards (default on)"},
};

void check_switch(const GivenValue& given) {
  profiler::on_or_off(given);
}
template <int kLeast, int kMost>
void check_number(const GivenValue& given) {
  profiler::whole_number(given, kLeast, kMost);
}
void check_level(const GivenValue& given) {
  profiler::one_of(given, {"off", "l0", "l1"});
}
void check_direction(const GivenValue& given) {
  profiler::one_of(given, {"read", "write"});
}
void check_devices(const GivenValue& given) {
  profiler::one_of(given, {"0", "all"});
}
void check_nothing(const GivenValue&) {
}

/// Known to the tooling; this hardware has nothing of the kind. Their values are checked all the same.
struct FlagWithoutEffect {
  const char* name;
  const char* value_name;
  void (*check)(const GivenValue&);
};
constexpr FlagWithoutEffect kWithoutEffect[] = {
    {"hccl", "on|off", check_switch},
    {"l2", "on|off", check_switch},
    {"task-block", "on|off", check_switch},
    {"mstx-domain-include", "NAMES", check_nothing},
    {"mstx-domain-exclude", "NAMES", check_nothing},
    {"sys-hardware-mem", "on|off", check_switch},
    {"sys-hardware-mem-freq", "1..100", check_number<1, 100>},
    {"llc-profiling", "read|write", check_direction},
    {"sys-io-profiling", "on|off", check_switch},
    {"sys-io-sampling-freq", "1..100", check_number<1, 100>},
    {"sys-interconnection-profiling", "on|off", check_switch},
    {"sys-interconnection-freq", "1..50", check_number<1, 50>},
    {"dvpp-profiling", "on|off", check_switch},
    {"dvpp-freq", "1..100", check_number<1, 100>},
    {"instr-profiling", "on|off", check_switch},
    {"instr-profiling-freq", "300..30000", check_number<300, 30000>},
    // What comes with task-time here, sample-based counters, and the one device.
    {"model-execution", "on|off", check_switch},
    {"ge-api", "off|l0|l1", check_level},
    {"aic-freq", "1..100", check_number<1, 100>},
    {"sys-devices", "0|all", check_devices},
};

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

std::string metrics_of(const Given& given, TaskTime task_time) {
  if (given.has("aic-mode") &&
      given.one_of("aic-mode", {"task-based", "sample-based"}) == "sample-based")
    reject("--aic-mode", "counters are read around each op here", "use task-based");
  const std::string metrics =
      given.has("aic-metrics") ? profiler::metrics(given.value("aic-metrics")) : "PipeUtilization";
  return given.is_on("ai-core", task_time == TaskTime::kL1) ? metrics : std::string();
}

void read_system(const Given& given, CollectOptions& options, std::vector<std::string>& unused) {
  profiler::SystemSampling& system = options.system;
  const auto note = [&](const char* flag, const std::string& words) {
    if (!words.empty()) unused.push_back(std::string("--") + flag + "=" + words);
  };
  if (given.has("host-sys"))
    note("host-sys", profiler::apply_host_sys(given.value("host-sys"), system));
  if (given.has("host-sys-usage"))
    note("host-sys-usage", profiler::apply_host_sys_usage(given.value("host-sys-usage"), system));
  if (given.is_on("sys-cpu-profiling", false)) system.system_cpu = true;
  if (given.is_on("sys-profiling", false)) system.system_cpu = system.system_memory = true;
  if (given.is_on("sys-pid-profiling", false)) system.process_cpu = system.process_memory = true;
  // One sampler serves all series: the fastest rate that was asked for.
  const auto rate = [&](const char* flag, double most) {
    return given.has(flag) ? given.number(flag, 1, most) : 0.0;
  };
  const double fastest =
      std::max({rate("host-sys-usage-freq", 50), rate("sys-cpu-freq", 50),
                rate("sys-sampling-freq", 10), rate("sys-pid-sampling-freq", 10)});
  if (fastest > 0) system.frequency_hz = fastest;
  if (given.has("host-sys-pid"))
    system.pid = static_cast<int>(given.number("host-sys-pid", 1, 1 << 30));
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

double seconds_of(const Given& given, const char* flag) {
  constexpr double kMostSeconds = 30.0 * 24 * 3600;
  return given.has(flag) ? given.number(flag, 0, kMostSeconds) : 0;
}

}  // namespace

void add_run_flags(po::options_description& flags) {
  for (const Flag& flag : kFlags)
    flags.add_options()(flag.name, text(flag.value_name), flag.meaning);
  for (const FlagWithoutEffect& flag : kWithoutEffect)
    flags.add_options()(flag.name, text(flag.value_name),
                        "accepted, without effect on this hardware");
}

RunSettings run_settings(const po::variables_map& flags, const std::vector<std::string>& words) {
  const Given given(flags);
  RunSettings settings;
  CollectOptions& options = settings.options;
  for (const FlagWithoutEffect& flag : kWithoutEffect) {
    if (!given.has(flag.name)) continue;
    flag.check(given.value(flag.name));
    if (given.text(flag.name) != "off")
      settings.without_effect.push_back(std::string("--") + flag.name);
  }

  settings.command = command_of(given, words);
  settings.environment = environment_of(given);
  if (given.has("type") && given.one_of("type", {"text", "db"}) == "db")
    settings.type = ExportAs::kDatabase;
  settings.exports = given.is_on("export", true);

  options.output = profiler::output_path(
      {"--output", given.has("output") ? given.text("output")
                                       : default_output(given, settings.command).string()});
  options.acl_api = given.is_on("ascendcl", true) && given.is_on("acl-api", true);
  options.runtime_api = given.is_on("runtime-api", false);
  if (given.has("task-time")) options.task_time = profiler::task_time(given.value("task-time"));
  options.aicpu = given.is_on("aicpu", false);
  options.task_memory = given.is_on("task-memory", true);
  options.msproftx = given.is_on("msproftx", false);
  options.aic_metrics = metrics_of(given, options.task_time);
  if (given.has("storage-limit"))
    options.storage_limit_bytes = profiler::storage_limit(given.value("storage-limit"));
  options.delay_s = seconds_of(given, "delay");
  options.duration_s = seconds_of(given, "duration");
  read_system(given, options, settings.without_effect);

  settings.system_period_s = seconds_of(given, "sys-period");
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
