// Reads the facts out of the two JSON files; what a damaged file does not tell stays unknown.
#include "profiler/database/session_facts.h"

namespace aoe::profiler {
namespace {
using nlohmann::json;

template <typename T>
T value_or(const json& object, const char* key, T fallback) {
  if (!object.is_object()) return fallback;
  const auto found = object.find(key);
  if (found == object.end()) return fallback;
  if constexpr (std::is_integral_v<T>)
    return found->is_number_integer() ? found->template get<T>() : fallback;
  else if constexpr (std::is_floating_point_v<T>)
    return found->is_number() ? found->template get<T>() : fallback;
  else
    return found->is_string() ? found->template get<T>() : fallback;
}

}  // namespace

SessionFacts session_facts(const RawInfo& raw) {
  SessionFacts facts;
  facts.generation = raw.generation;
  facts.process_id = value_or<std::int64_t>(raw.info, "pid", 0);
  facts.monotonic_to_unix_ns = value_or<std::int64_t>(raw.info, "monotonic_to_unix_ns", 0);
  facts.host_uid = value_or<std::string>(raw.info, "host_uid", "");
  facts.host_name = value_or<std::string>(raw.info, "host_name", "");
  facts.processor = value_or<std::string>(raw.info, "processor", "");
  facts.cores = value_or<int>(raw.info, "cores", 0);
  facts.frequency_mhz = value_or<double>(raw.info, "frequency_mhz", 0);
  facts.metric_group = value_or<std::string>(raw.sample, "aic_metrics", "");
  if (raw.sample.is_object() && raw.sample.contains("training_trace"))
    facts.training_trace = raw.sample["training_trace"] != false;
  facts.fp_point = value_or<std::string>(raw.sample, "fp_point", "");
  facts.bp_point = value_or<std::string>(raw.sample, "bp_point", "");
  if (raw.info.is_object() && raw.info.contains("counters") && raw.info["counters"].is_array())
    for (const json& counter : raw.info["counters"])
      facts.counters.push_back({value_or<std::string>(counter, "name", ""),
                                value_or<std::string>(counter, "event", "")});
  return facts;
}

}  // namespace aoe::profiler
