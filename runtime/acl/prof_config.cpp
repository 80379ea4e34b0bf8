// Bits and types of the C API -> CollectOptions: one table row each.
#include "runtime/acl/prof_config.h"

#include <span>

#include "base/error.h"
#include "profiler/collect/metric_groups.h"
#include "profiler/collect/option_keys.h"
#include "runtime/acl/wall.h"

namespace aoe::runtime::acl {
namespace {

using profiler::CollectOptions;
using profiler::TaskTime;

struct DataType {
  std::uint64_t bit;
  const char* name;
  void (*apply)(CollectOptions& options);  ///< nullptr: this processor has nothing of it
};

// In this order: a level of task times replaces those before it.
constexpr DataType kDataTypes[] = {
    {ACL_PROF_ACL_API, "ACL_PROF_ACL_API", [](CollectOptions& o) { o.acl_api = true; }},
    {ACL_PROF_TASK_TIME_L0, "ACL_PROF_TASK_TIME_L0",
     [](CollectOptions& o) { o.task_time = TaskTime::kL0; }},
    {ACL_PROF_TASK_TIME, "ACL_PROF_TASK_TIME",
     [](CollectOptions& o) { o.task_time = TaskTime::kL1; }},
    {ACL_PROF_TASK_TIME_L2, "ACL_PROF_TASK_TIME_L2",
     [](CollectOptions& o) { o.task_time = TaskTime::kL1; }},
    {ACL_PROF_TASK_TIME_L3, "ACL_PROF_TASK_TIME_L3",
     [](CollectOptions& o) { o.task_time = TaskTime::kL1; }},
    {ACL_PROF_AICPU, "ACL_PROF_AICPU", [](CollectOptions& o) { o.aicpu = true; }},
    {ACL_PROF_TRAINING_TRACE, "ACL_PROF_TRAINING_TRACE",
     [](CollectOptions& o) { o.training_trace = true; }},
    {ACL_PROF_MSPROFTX, "ACL_PROF_MSPROFTX", [](CollectOptions& o) { o.msproftx = true; }},
    {ACL_PROF_RUNTIME_API, "ACL_PROF_RUNTIME_API", [](CollectOptions& o) { o.runtime_api = true; }},
    {ACL_PROF_TASK_MEMORY, "ACL_PROF_TASK_MEMORY", [](CollectOptions& o) { o.task_memory = true; }},
    {ACL_PROF_L2CACHE, "ACL_PROF_L2CACHE", nullptr},
    {ACL_PROF_HCCL_TRACE, "ACL_PROF_HCCL_TRACE", nullptr},
    {ACL_PROF_GE_API_L0, "ACL_PROF_GE_API_L0", nullptr},
    {ACL_PROF_GE_API_L1, "ACL_PROF_GE_API_L1", nullptr},
    {ACL_PROF_OP_ATTR, "ACL_PROF_OP_ATTR", nullptr},
    {ACL_PROF_API_STATS, "ACL_PROF_API_STATS", nullptr},
    {ACL_PROF_AICORE_SHAPE, "ACL_PROF_AICORE_SHAPE", nullptr},
};

void check_devices(const aclprofConfig& config) {
  if (config.devices.empty())
    return require(config.data_types == ACL_PROF_MSPROFTX, ACL_ERROR_INVALID_PARAM,
                   "an empty list of devices goes with ACL_PROF_MSPROFTX alone");
  require(config.devices.size() == 1, ACL_ERROR_INVALID_PARAM, "there is one device, number 0");
  require(config.devices[0] == 0, ACL_ERROR_INVALID_DEVICE, "there is one device, number 0");
}

/// The metrics are read around ops, which are recorded for them when nobody else asks.
void apply_metrics(const aclprofConfig& config, CollectOptions& options) {
  if ((config.data_types & ACL_PROF_AICORE_METRICS) == 0) return;
  const auto number = static_cast<std::uint32_t>(config.metrics);
  if (number == ACL_AICORE_NONE) return;
  const auto groups = profiler::metric_groups();
  if (number >= groups.size())
    throw AclFailure(ACL_ERROR_INVALID_PARAM,
                     "there are no metrics number " + std::to_string(number));
  options.aic_metrics = groups[number].name;
  if (options.task_time == TaskTime::kOff) options.task_time = TaskTime::kL1;
}

struct Setting {
  aclprofConfigType type;
  const char* key;  ///< of option_keys.h
};
constexpr Setting kSettings[] = {
    {ACL_PROF_STORAGE_LIMIT, "storage_limit"},
    {ACL_PROF_SYS_HARDWARE_MEM_FREQ, "sys_hardware_mem_freq"},
    {ACL_PROF_LLC_MODE, "llc_profiling"},
    {ACL_PROF_SYS_IO_FREQ, "sys_io_sampling_freq"},
    {ACL_PROF_SYS_INTERCONNECTION_FREQ, "sys_interconnection_freq"},
    {ACL_PROF_DVPP_FREQ, "dvpp_freq"},
    {ACL_PROF_HOST_SYS, "host_sys"},
    {ACL_PROF_HOST_SYS_USAGE, "host_sys_usage"},
    {ACL_PROF_HOST_SYS_USAGE_FREQ, "host_sys_usage_freq"},
    {ACL_PROF_LOW_POWER_FREQ, "sys_lp_freq"},
    {ACL_PROF_SYS_MEM_SERVICEFLOW, "sys_mem_serviceflow"},
    {ACL_PROF_SYS_CPU_FREQ, "sys_cpu_freq"},
    {ACL_PROF_OPTYPE, "optype"},
    {ACL_PROF_NTS_METRICS, "nts_metrics"},
    {ACL_PROF_PATH, "output"},
};

}  // namespace

void apply_config(const aclprofConfig& config, CollectOptions& options) {
  require(config.data_types != 0, ACL_ERROR_INVALID_PARAM, "dataTypeConfig asks for nothing");
  std::uint64_t known = ACL_PROF_AICORE_METRICS;
  for (const DataType& type : kDataTypes) known |= type.bit;
  require((config.data_types & ~known) == 0, ACL_ERROR_PROF_MODULES_UNSUPPORTED,
          "dataTypeConfig has an unknown bit");
  check_devices(config);

  options.acl_api = options.runtime_api = options.task_memory = false;
  options.task_time = TaskTime::kOff;
  std::vector<std::string> unused;
  for (const DataType& type : kDataTypes) {
    if ((config.data_types & type.bit) == 0) continue;
    if (type.apply != nullptr)
      type.apply(options);
    else
      unused.push_back(type.name);
  }
  apply_metrics(config, options);
  profiler::warn_of_unused(unused);
}

void apply_setting(aclprofConfigType type, const std::string& value, CollectOptions& options) {
  for (const Setting& setting : kSettings) {
    if (setting.type != type) continue;
    std::vector<std::string> unused;
    try {
      profiler::find_option_key(setting.key, profiler::kSetConfig)
          ->apply(options, {setting.key, value}, unused);
    } catch (const Error& e) {
      throw AclFailure(ACL_ERROR_INVALID_PARAM, e.what());
    }
    return profiler::warn_of_unused(unused);
  }
  throw AclFailure(ACL_ERROR_INVALID_PARAM,
                   "there is no configuration type " + std::to_string(static_cast<int>(type)));
}

}  // namespace aoe::runtime::acl
