// Metric groups (--aic-metrics): which hardware counters each group reads, and which columns they feed.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "profiler/collect/perf_counters.h"

namespace aoe::profiler {

/// A counter of a group, with the columns of op_summary that need it. The other columns of a group are analytic, or have no
/// counterpart on a CPU and read N/A.
struct GroupCounter {
  const char* name;     ///< as in info.json's "counters"
  const char* columns;  ///< separated by ", "
};

struct MetricGroup {
  const char* name;
  std::vector<GroupCounter> counters;
};

/// The groups of aclprofAicoreMetrics, in its order.
std::span<const MetricGroup> metric_groups();
/// nullptr when there is none of this name.
const MetricGroup* find_metric_group(std::string_view name);

/// The group's events on the processor of this process; "Custom:0x49,0x8" gives raw events. The reason when the name is
/// unknown, or the processor is one whose events are not known here.
Result<std::vector<PerfEvent>> perf_events_of(std::string_view metrics);
/// Why `metrics` is no group and no Custom list; empty when it is one. For checking what users write.
std::string flaw_of_metrics(std::string_view metrics);

}  // namespace aoe::profiler
