// The table.
#include "profiler/collect/option_keys.h"

#include <mutex>
#include <set>

#include "base/log.h"

namespace aoe::profiler {
namespace {

using Unused = std::vector<std::string>;
constexpr unsigned kJsons = kAclJson | kProfilingOptions;
/// Switches of what a collection can hold.
constexpr unsigned kSwitches = kJsons | kConfigBits | kMsprof;
/// Settings beside the switches.
constexpr unsigned kSettings = kJsons | kSetConfig | kMsprof;

constexpr double kMostSeconds = 30.0 * 24 * 3600;
constexpr int kMostPid = 1 << 30;

template <auto kMember>
void set_switch(CollectOptions& options, const GivenValue& given, Unused&) {
  options.*kMember = on_or_off(given);
}

template <auto kMember>
void set_text(CollectOptions& options, const GivenValue& given, Unused&) {
  options.*kMember = given.text;
}

template <auto kMember>
void set_seconds(CollectOptions& options, const GivenValue& given, Unused&) {
  options.*kMember = number(given, 0, kMostSeconds);
}

void set_output(CollectOptions& options, const GivenValue& given, Unused&) {
  options.output = output_path(given);
}

void set_storage_limit(CollectOptions& options, const GivenValue& given, Unused&) {
  options.storage_limit_bytes = storage_limit(given);
}

void set_task_time(CollectOptions& options, const GivenValue& given, Unused&) {
  options.task_time = task_time(given);
}

/// Who names a group wants it read, also where it would not be by itself.
void set_metrics(CollectOptions& options, const GivenValue& given, Unused&) {
  options.aic_metrics = metrics(given);
  if (!options.ai_core) options.ai_core = true;
}

void set_ss928_metrics(CollectOptions& options, const GivenValue& given, Unused&) {
  // "other = none" is the tool's rule.
  options.aic_metrics = given.text == "ArithmeticUtilization" ? given.text : std::string();
}

void check_aic_mode(CollectOptions&, const GivenValue& given, Unused&) {
  if (one_of(given, {"task-based", "sample-based"}) == "sample-based")
    reject_value(given, "counters are read around each op here", "use task-based");
}

/// On: asks for these series; off leaves them to whatever else asks.
template <auto... kSeries>
void ask_for_series(CollectOptions& options, const GivenValue& given, Unused&) {
  if (on_or_off(given)) ((options.system.*kSeries = true), ...);
}

template <auto kMember, int kMost>
void set_rate(CollectOptions& options, const GivenValue& given, Unused&) {
  options.system.*kMember = whole_number(given, 1, kMost);
}

void set_host_sys(CollectOptions& options, const GivenValue& given, Unused& unused) {
  const std::string words = apply_host_sys(given, options.system);
  if (!words.empty()) unused.push_back(given.where + "=" + words);
}
void set_host_sys_usage(CollectOptions& options, const GivenValue& given, Unused& unused) {
  const std::string words = apply_host_sys_usage(given, options.system);
  if (!words.empty()) unused.push_back(given.where + "=" + words);
}

// Checked, and without effect: this machine has nothing of the kind.
void unused_switch(CollectOptions&, const GivenValue& given, Unused& unused) {
  if (on_or_off(given)) unused.push_back(given.where);
}
template <int kLeast, int kMost>
void unused_frequency(CollectOptions&, const GivenValue& given, Unused& unused) {
  whole_number(given, kLeast, kMost);
  unused.push_back(given.where);
}
void unused_text(CollectOptions&, const GivenValue& given, Unused& unused) {
  unused.push_back(given.where);
}
void unused_level(CollectOptions&, const GivenValue& given, Unused& unused) {
  if (one_of(given, {"off", "l0", "l1"}) != "off") unused.push_back(given.where);
}
void unused_direction(CollectOptions&, const GivenValue& given, Unused& unused) {
  one_of(given, {"read", "write"});
  unused.push_back(given.where);
}
void unused_devices(CollectOptions&, const GivenValue& given, Unused& unused) {
  one_of(given, {"0", "all"});
  unused.push_back(given.where);
}

using O = CollectOptions;
using S = SystemSampling;

constexpr OptionKey kKeys[] = {
    {"switch", kAclJson | kSs928, [](O&, const GivenValue& given, Unused&) { on_or_off(given); }},
    {"output", kSettings | kSs928, set_output, "DIR",
     "where PROF_* directories go; default: ASCEND_WORK_PATH, else here, or with --application "
     "beside the program"},
    {"storage_limit", kSettings, set_storage_limit, "200MB",
     "bound of the raw data; the oldest go first"},

    // Calls and ops.
    {"ascendcl", kAclJson | kConfigBits | kMsprof, set_switch<&O::acl_api>, "on|off",
     "calls of AscendCL (default on)"},
    {"acl_api", kMsprof | kSs928, set_switch<&O::acl_api>, "on|off", "the same"},
    {"runtime_api", kSwitches, set_switch<&O::runtime_api>, "on|off",
     "what the runtime launches for them (default off)"},
    {"task_time", kSwitches, set_task_time, "l0|l1|l2|l3|on|off",
     "times of ops; l0: without what they are; l2, l3: as l1 (default on = l1)"},
    {"task_trace", kProfilingOptions, set_task_time},  // the older name
    {"aicpu", kSwitches, set_switch<&O::aicpu>, "on|off",
     "details of ops on the reference path (default off)"},
    {"aacpu", kSs928, set_switch<&O::aicpu>},
    {"ai_core", kMsprof, set_switch<&O::ai_core>, "on|off",
     "hardware counters of ops (default on with task-time on, or a group named)"},
    {"aic_mode", kMsprof, check_aic_mode, "task-based|sample-based",
     "counters are task-based here"},
    {"aic_metrics", kSwitches, set_metrics, "GROUP",
     "group of hardware counters (default PipeUtilization), or Custom:0x49,0x8"},
    {"aac_metrics", kSs928, set_ss928_metrics},
    {"task_memory", kSwitches, set_switch<&O::task_memory>, "on|off",
     "memory that models and programs allocate (default on)"},
    {"msproftx", kSwitches, set_switch<&O::msproftx>, "on|off",
     "stamps and ranges of the program (default off)"},
    {"training_trace", kProfilingOptions | kConfigBits, set_switch<&O::training_trace>},
    {"fp_point", kProfilingOptions, set_text<&O::fp_point>},
    {"bp_point", kProfilingOptions, set_text<&O::bp_point>},
    {"interval", kSs928,
     [](O& o, const GivenValue& given, Unused&) {
       o.interval = whole_number(given, 0, 1'000'000'000);
     }},

    // System data.
    {"host_sys", kSettings, set_host_sys, "cpu,mem", "CPU time and memory of the program"},
    {"host_sys_usage", kSettings, set_host_sys_usage, "cpu,mem",
     "the same, and of the whole machine"},
    {"host_sys_usage_freq", kSettings, set_rate<&S::usage_hz, 50>, "1..50",
     "samples a second (default 50)"},
    {"host_sys_pid", kMsprof,
     [](O& o, const GivenValue& given, Unused&) {
       o.system.pid = whole_number(given, 1, kMostPid);
     },
     "PID", "without a program: of which process"},
    {"sys_cpu_profiling", kMsprof, ask_for_series<&S::system_cpu>, "on|off",
     "CPU time of the machine, by core"},
    {"sys_cpu_freq", kMsprof, set_rate<&S::system_cpu_hz, 50>, "1..50", "samples a second"},
    {"sys_cpu_freq", kJsons | kSetConfig,  // there is no switch beside it
     [](O& o, const GivenValue& given, Unused& unused) {
       set_rate<&S::system_cpu_hz, 50>(o, given, unused);
       o.system.system_cpu = true;
     }},
    {"sys_profiling", kMsprof, ask_for_series<&S::system_cpu, &S::system_memory>, "on|off",
     "CPU time and memory of the machine"},
    {"sys_sampling_freq", kMsprof, set_rate<&S::system_hz, 10>, "1..10", "samples a second"},
    {"sys_pid_profiling", kMsprof, ask_for_series<&S::process_cpu, &S::process_memory>, "on|off",
     "CPU time and memory of the program"},
    {"sys_pid_sampling_freq", kMsprof, set_rate<&S::process_hz, 10>, "1..10", "samples a second"},

    // When.
    {"delay", kMsprof, set_seconds<&O::delay_s>, "SECONDS",
     "begin so long after the program's aclInit"},
    {"duration", kMsprof, set_seconds<&O::duration_s>, "SECONDS",
     "collect for so long; the program goes on"},

    // What other hardware has.
    {"hccl", kSwitches, unused_switch, "on|off"},
    {"l2", kSwitches, unused_switch, "on|off"},
    {"task_tsfw", kJsons, unused_switch},
    {"task_block", kProfilingOptions | kMsprof, unused_switch, "on|off"},
    {"op_attr", kConfigBits, unused_switch},
    {"api_stats", kConfigBits, unused_switch},
    {"aicore_shape", kConfigBits, unused_switch},
    {"mstx_domain_include", kMsprof, unused_text, "NAMES"},
    {"mstx_domain_exclude", kMsprof, unused_text, "NAMES"},
    {"sys_hardware_mem", kMsprof, unused_switch, "on|off"},
    {"sys_hardware_mem_freq", kSettings, unused_frequency<1, 100>, "1..100"},
    {"llc_profiling", kSettings, unused_direction, "read|write"},
    {"sys_io_profiling", kMsprof, unused_switch, "on|off"},
    {"sys_io_sampling_freq", kSettings, unused_frequency<1, 100>, "1..100"},
    {"sys_interconnection_profiling", kMsprof, unused_switch, "on|off"},
    {"sys_interconnection_freq", kSettings, unused_frequency<1, 50>, "1..50"},
    {"dvpp_profiling", kMsprof, unused_switch, "on|off"},
    {"dvpp_freq", kSettings, unused_frequency<1, 100>, "1..100"},
    {"sys_lp_freq", kJsons | kSetConfig, unused_frequency<1, 100>},
    {"instr_profiling", kJsons | kMsprof, unused_switch, "on|off"},
    {"instr_profiling_freq", kJsons | kMsprof, unused_frequency<300, 30000>, "300..30000"},
    {"sys_mem_serviceflow", kJsons | kSetConfig, unused_text},
    {"optype", kJsons | kSetConfig, unused_text},
    {"nts_metrics", kSetConfig, unused_text},
    // What comes with task_time here, sample-based counters, and the one device.
    {"model_execution", kMsprof, unused_switch, "on|off"},
    {"ge_api", kSwitches, unused_level, "off|l0|l1"},
    {"aic_freq", kMsprof, unused_frequency<1, 100>, "1..100"},
    {"sys_devices", kMsprof, unused_devices, "0|all"},
};

}  // namespace

std::span<const OptionKey> option_keys() {
  return kKeys;
}

const OptionKey* find_option_key(std::string_view name, unsigned fronts) {
  for (const OptionKey& key : kKeys)
    if ((key.fronts & fronts) != 0 && name == key.name) return &key;
  return nullptr;
}

CollectOptions default_options(OptionFront front) {
  CollectOptions options;
  options.generation = front == kSs928 ? Generation::kJob : Generation::kProf;
  options.runtime_api = front == kAclJson;
  options.aicpu = front == kSs928;
  options.task_memory = front == kMsprof || front == kSs928;
  if (front == kProfilingOptions) options.training_trace = false;
  if (front == kConfigBits) {  // a bit that is not set asks for nothing
    options.acl_api = false;
    options.task_time = TaskTime::kOff;
  }
  if (front != kConfigBits && front != kSs928) options.aic_metrics = "PipeUtilization";
  return options;
}

void warn_of_unused(const std::vector<std::string>& unused) {
  static std::mutex mutex;
  static std::set<std::string> said;
  const std::lock_guard lock(mutex);
  for (const std::string& option : unused)
    if (said.insert(option).second) logger("profiler")->warn("{} has no effect here", option);
}

}  // namespace aoe::profiler
