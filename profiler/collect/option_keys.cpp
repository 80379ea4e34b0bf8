// The table.
#include "profiler/collect/option_keys.h"

#include <mutex>
#include <set>

#include "base/log.h"

namespace aoe::profiler {
namespace {

using Unused = std::vector<std::string>;
constexpr unsigned kJsons = kAclJson | kProfilingOptions;
constexpr unsigned kEverywhere = kJsons | kSetConfig;

template <auto kMember>
void set_switch(CollectOptions& options, const GivenValue& given, Unused&) {
  options.*kMember = on_or_off(given);
}

template <auto kMember>
void set_text(CollectOptions& options, const GivenValue& given, Unused&) {
  options.*kMember = given.text;
}

void set_task_time(CollectOptions& options, const GivenValue& given, Unused&) {
  options.task_time = task_time(given);
}

/// Checked, and without effect: this machine has nothing of the kind.
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

void set_host_sys(CollectOptions& options, const GivenValue& given, Unused& unused) {
  const std::string words = apply_host_sys(given, options.system);
  if (!words.empty()) unused.push_back(given.where + "=" + words);
}
void set_host_sys_usage(CollectOptions& options, const GivenValue& given, Unused& unused) {
  const std::string words = apply_host_sys_usage(given, options.system);
  if (!words.empty()) unused.push_back(given.where + "=" + words);
}

constexpr OptionKey kKeys[] = {
    {"switch", kAclJson,
     [](CollectOptions&, const GivenValue& given, Unused&) { on_or_off(given); }},
    {"output", kEverywhere,
     [](CollectOptions& o, const GivenValue& given, Unused&) { o.output = output_path(given); }},
    {"storage_limit", kEverywhere,
     [](CollectOptions& o, const GivenValue& given, Unused&) {
       o.storage_limit_bytes = storage_limit(given);
     }},
    {"aic_metrics", kJsons,
     [](CollectOptions& o, const GivenValue& given, Unused&) { o.aic_metrics = metrics(given); }},
    {"aicpu", kJsons, set_switch<&CollectOptions::aicpu>},
    {"task_time", kJsons, set_task_time},
    {"task_trace", kProfilingOptions, set_task_time},  // the older name
    {"ascendcl", kAclJson, set_switch<&CollectOptions::acl_api>},
    {"runtime_api", kJsons, set_switch<&CollectOptions::runtime_api>},
    {"task_memory", kJsons, set_switch<&CollectOptions::task_memory>},
    {"msproftx", kJsons, set_switch<&CollectOptions::msproftx>},
    {"training_trace", kProfilingOptions, set_switch<&CollectOptions::training_trace>},
    {"fp_point", kProfilingOptions, set_text<&CollectOptions::fp_point>},
    {"bp_point", kProfilingOptions, set_text<&CollectOptions::bp_point>},
    {"host_sys", kEverywhere, set_host_sys},
    {"host_sys_usage", kEverywhere, set_host_sys_usage},
    {"host_sys_usage_freq", kEverywhere,
     [](CollectOptions& o, const GivenValue& given, Unused&) {
       o.system.frequency_hz = whole_number(given, 1, 50);
     }},
    {"sys_cpu_freq", kEverywhere,
     [](CollectOptions& o, const GivenValue& given, Unused&) {
       o.system.frequency_hz = whole_number(given, 1, 50);
       o.system.system_cpu = true;
     }},
    {"l2", kJsons, unused_switch},
    {"hccl", kJsons, unused_switch},
    {"ge_api", kJsons,
     [](CollectOptions&, const GivenValue& given, Unused& unused) {
       if (one_of(given, {"off", "l0", "l1"}) != "off") unused.push_back(given.where);
     }},
    {"task_tsfw", kJsons, unused_switch},
    {"task_block", kProfilingOptions, unused_switch},
    {"sys_hardware_mem_freq", kEverywhere, unused_frequency<1, 100>},
    {"llc_profiling", kEverywhere,
     [](CollectOptions&, const GivenValue& given, Unused& unused) {
       one_of(given, {"read", "write"});
       unused.push_back(given.where);
     }},
    {"sys_io_sampling_freq", kEverywhere, unused_frequency<1, 100>},
    {"sys_interconnection_freq", kEverywhere, unused_frequency<1, 50>},
    {"dvpp_freq", kEverywhere, unused_frequency<1, 100>},
    {"sys_lp_freq", kEverywhere, unused_frequency<1, 100>},
    {"instr_profiling", kJsons, unused_switch},
    {"instr_profiling_freq", kJsons, unused_frequency<300, 30000>},
    {"sys_mem_serviceflow", kEverywhere, unused_text},
    {"optype", kEverywhere, unused_text},
    {"nts_metrics", kSetConfig, unused_text},
};

}  // namespace

const OptionKey* find_option_key(std::string_view name, unsigned fronts) {
  for (const OptionKey& key : kKeys)
    if ((key.fronts & fronts) != 0 && name == key.name) return &key;
  return nullptr;
}

void warn_of_unused(const std::vector<std::string>& unused) {
  static std::mutex mutex;
  static std::set<std::string> said;
  const std::lock_guard lock(mutex);
  for (const std::string& option : unused)
    if (said.insert(option).second)
      logger("profiler")->warn("{} has no effect here", option);
}

}  // namespace aoe::profiler
