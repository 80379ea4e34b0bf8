// The rows that a selection means, as SQL.
#pragma once

#include <string>

#include "profiler/export/timeline.h"

namespace aoe::profiler {

/// Calls of AscendCL and of the runtime, without what lies between them: a model's load.
inline constexpr const char* kCallsAlone = "(SELECT * FROM API_CALL WHERE type <> 15000)";

/// What the runtime launches for them (--runtime-api).
inline constexpr const char* kRuntimeCalls = "API_CALL WHERE type = 5000";

/// " WHERE startNs BETWEEN .. AND ..", or nothing: by time, for what belongs to no model.
inline std::string time_filter(const ExportSelection& selection, const char* column = "startNs") {
  if (!selection.iteration) return {};
  return " WHERE " + std::string(column) + " BETWEEN " +
         std::to_string(selection.iteration->start_ns) + " AND " +
         std::to_string(selection.iteration->end_ns);
}

/// The same, and of that model and run alone.
inline std::string task_filter(const ExportSelection& selection) {
  if (!selection.iteration) return {};
  return time_filter(selection) +
         " AND modelId = " + std::to_string(selection.iteration->model_id) +
         " AND run = " + std::to_string(selection.iteration->run);
}

}  // namespace aoe::profiler
