// Bits and types of the C API -> rows of option_keys.h.
#include "runtime/acl/prof_config.h"

#include <span>

#include "base/error.h"
#include "profiler/collect/metric_groups.h"
#include "profiler/collect/option_keys.h"
#include "runtime/acl/wall.h"

namespace aoe::runtime::acl {
namespace {

using profiler::CollectOptions;

struct DataType {
  std::uint64_t bit;
  const char* name;
  const char* key;  ///< of option_keys.h
  const char* value = "on";
};

// In this order: a level of task times replaces those before it.
constexpr DataType kDataTypes[] = {
    {ACL_PROF_ACL_API, "ACL_PROF_ACL_API", "ascendcl"},
    {ACL_PROF_TASK_TIME_L0, "ACL_PROF_TASK_TIME_L0", "task_time", "l0"},
    {ACL_PROF_TASK_TIME, "ACL_PROF_TASK_TIME", "task_time", "l1"},
    {ACL_PROF_TASK_TIME_L2, "ACL_PROF_TASK_TIME_L2", "task_time", "l2"},
    {ACL_PROF_TASK_TIME_L3, "ACL_PROF_TASK_TIME_L3", "task_time", "l3"},
    {ACL_PROF_AICPU, "ACL_PROF_AICPU", "aicpu"},
    {ACL_PROF_TRAINING_TRACE, "ACL_PROF_TRAINING_TRACE", "training_trace"},
    {ACL_PROF_MSPROFTX, "ACL_PROF_MSPROFTX", "msproftx"},
    {ACL_PROF_RUNTIME_API, "ACL_PROF_RUNTIME_API", "runtime_api"},
    {ACL_PROF_TASK_MEMORY, "ACL_PROF_TASK_MEMORY", "task_memory"},
    {ACL_PROF_L2CACHE, "ACL_PROF_L2CACHE", "l2"},
    {ACL_PROF_HCCL_TRACE, "ACL_PROF_HCCL_TRACE", "hccl"},
    {ACL_PROF_GE_API_L0, "ACL_PROF_GE_API_L0", "ge_api", "l0"},
    {ACL_PROF_GE_API_L1, "ACL_PROF_GE_API_L1", "ge_api", "l1"},
    {ACL_PROF_OP_ATTR, "ACL_PROF_OP_ATTR", "op_attr"},
    {ACL_PROF_API_STATS, "ACL_PROF_API_STATS", "api_stats"},
    {ACL_PROF_AICORE_SHAPE, "ACL_PROF_AICORE_SHAPE", "aicore_shape"},
};

/// Sets an option; what has no effect here is logged under the name that the program knows.
void give(unsigned front, const char* key, const profiler::GivenValue& value,
          CollectOptions& options) {
  std::vector<std::string> unused;
  try {
    profiler::find_option_key(key, front)->apply(options, value, unused);
  } catch (const Error& e) {
    throw AclFailure(ACL_ERROR_INVALID_PARAM, e.what());
  }
  profiler::warn_of_unused(unused);
}

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
  if (options.task_time == profiler::TaskTime::kOff)
    give(profiler::kConfigBits, "task_time", {"task_time", "on"}, options);
  give(profiler::kConfigBits, "aic_metrics", {"aic_metrics", groups[number].name}, options);
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

  for (const DataType& type : kDataTypes)
    if ((config.data_types & type.bit) != 0)
      give(profiler::kConfigBits, type.key, {type.name, type.value}, options);
  apply_metrics(config, options);
}

void apply_setting(aclprofConfigType type, const std::string& value, CollectOptions& options) {
  for (const Setting& setting : kSettings)
    if (setting.type == type)
      return give(profiler::kSetConfig, setting.key, {setting.key, value}, options);
  throw AclFailure(ACL_ERROR_INVALID_PARAM,
                   "there is no configuration type " + std::to_string(static_cast<int>(type)));
}

CollectOptions& prepared_options() {
  static CollectOptions prepared = profiler::default_options(profiler::kConfigBits);
  return prepared;
}

void forget_prepared_options() {
  prepared_options() = profiler::default_options(profiler::kConfigBits);
}

}  // namespace aoe::runtime::acl
