// CollectOptions <-> JSON.
#include "profiler/collect/options.h"

#include <nlohmann/json.hpp>

#include "base/error.h"

namespace aoe::profiler {
namespace {

using nlohmann::json;

const char* name_of(TaskTime level) {
  if (level == TaskTime::kOff) return "off";
  return level == TaskTime::kL0 ? "l0" : "l1";
}

TaskTime task_time_from(const std::string& name) {
  if (name == "off") return TaskTime::kOff;
  return name == "l0" ? TaskTime::kL0 : TaskTime::kL1;
}

}  // namespace

std::string counted_metrics(const CollectOptions& options) {
  const bool is_wanted = options.ai_core.value_or(options.task_time == TaskTime::kL1);
  return is_wanted && options.task_time != TaskTime::kOff ? options.aic_metrics : std::string();
}

json to_json(const CollectOptions& options) {
  json system = {{"system_cpu", options.system.system_cpu},
                 {"system_memory", options.system.system_memory},
                 {"process_cpu", options.system.process_cpu},
                 {"process_memory", options.system.process_memory},
                 {"frequency_hz", options.system.frequency_hz()},
                 {"pid", options.system.pid}};
  json result = {{"generation", options.generation == Generation::kProf ? "PROF" : "JOB"},
                 {"output", options.output.string()},
                 {"acl_api", options.acl_api},
                 {"runtime_api", options.runtime_api},
                 {"task_time", name_of(options.task_time)},
                 {"aicpu", options.aicpu},
                 {"task_memory", options.task_memory},
                 {"msproftx", options.msproftx},
                 {"training_trace", nullptr},
                 {"fp_point", options.fp_point},
                 {"bp_point", options.bp_point},
                 {"aic_metrics", counted_metrics(options)},
                 {"interval", options.interval},
                 {"storage_limit_bytes", nullptr},
                 {"system", std::move(system)},
                 {"delay_s", options.delay_s},
                 {"duration_s", options.duration_s},
                 {"session", options.session}};
  if (options.storage_limit_bytes) result["storage_limit_bytes"] = *options.storage_limit_bytes;
  if (options.training_trace) result["training_trace"] = *options.training_trace;
  return result;
}

CollectOptions options_from_json(const json& j) try {
  CollectOptions options;
  options.generation =
      j.at("generation").get<std::string>() == "JOB" ? Generation::kJob : Generation::kProf;
  options.output = j.at("output").get<std::string>();
  j.at("acl_api").get_to(options.acl_api);
  j.at("runtime_api").get_to(options.runtime_api);
  options.task_time = task_time_from(j.at("task_time").get<std::string>());
  j.at("aicpu").get_to(options.aicpu);
  j.at("task_memory").get_to(options.task_memory);
  j.at("msproftx").get_to(options.msproftx);
  if (const json& trace = j.at("training_trace"); !trace.is_null())
    options.training_trace = trace.get<bool>();
  j.at("fp_point").get_to(options.fp_point);
  j.at("bp_point").get_to(options.bp_point);
  j.at("aic_metrics").get_to(options.aic_metrics);
  options.ai_core = !options.aic_metrics.empty();
  j.at("interval").get_to(options.interval);
  if (const json& limit = j.at("storage_limit_bytes"); !limit.is_null())
    options.storage_limit_bytes = limit.get<std::uint64_t>();
  const json& system = j.at("system");
  system.at("system_cpu").get_to(options.system.system_cpu);
  system.at("system_memory").get_to(options.system.system_memory);
  system.at("process_cpu").get_to(options.system.process_cpu);
  system.at("process_memory").get_to(options.system.process_memory);
  system.at("frequency_hz").get_to(options.system.usage_hz);
  system.at("pid").get_to(options.system.pid);
  j.at("delay_s").get_to(options.delay_s);
  j.at("duration_s").get_to(options.duration_s);
  j.at("session").get_to(options.session);
  return options;
} catch (const json::exception& e) {
  throw Error(ExitCode::kUsage, std::string("not what msprof writes: ") + e.what());
}

}  // namespace aoe::profiler
