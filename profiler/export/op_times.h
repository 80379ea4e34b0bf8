// Sums over tasks that several summaries, tables and rules share.
#pragma once

#include <map>
#include <vector>

#include "profiler/database/database.h"
#include "profiler/export/duration_stats.h"
#include "profiler/export/timeline.h"

namespace aoe::profiler {

struct OpTimes {
  std::int64_t model_id = 0;
  std::int64_t task_id = 0;
  std::int64_t stream_id = 0;  ///< of the first task
  const OpRow* op = nullptr;   ///< nullptr when the op table does not know it
  DurationStats stats;
  std::int64_t median_ns = 0;

  /// What all its runs would take without outliers: one run that was interrupted for 24 ms makes no op the slowest.
  std::int64_t typical_ns() const { return median_ns * stats.count; }
};

/// One per op of each model that ran, in the order of execution.
std::vector<OpTimes> op_times(const Database& profile, const ExportSelection& selection);
std::int64_t total_ns(const std::vector<OpTimes>& ops);
std::int64_t typical_ns(const std::vector<OpTimes>& ops);

struct ApiTimes {
  std::int64_t type = 0;
  std::int64_t thread = 0;  ///< 0 when summed over threads
  std::string name;
  DurationStats stats;
};

/// One per level and call; by total time, the longest first.
std::vector<ApiTimes> api_times(const Database& profile, const ExportSelection& selection);
/// One per call of AscendCL or the runtime, and per thread if wanted: without the levels between.
std::vector<ApiTimes> call_times(const Database& profile, const ExportSelection& selection,
                                 bool by_thread);

/// "Conv2D" of AI_CORE and "Conv2D" of AI_CPU are two.
struct TypeTimes {
  std::string op_type;
  std::string task_type;
  DurationStats stats;
  std::int64_t typical_ns = 0;  ///< sum over its ops
};
/// By total time, the longest first.
std::vector<TypeTimes> type_times(const Database& profile, const ExportSelection& selection);

}  // namespace aoe::profiler
