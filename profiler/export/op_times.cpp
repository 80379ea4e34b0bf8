// One pass over the tasks each.
#include "profiler/export/op_times.h"

#include <algorithm>
#include <tuple>

#include "profiler/export/api_names.h"
#include "profiler/export/selection.h"

namespace aoe::profiler {
namespace {

template <typename Times>
void sort_by_total(std::vector<Times>& times) {
  std::stable_sort(times.begin(), times.end(), [](const Times& a, const Times& b) {
    return a.stats.total_ns > b.stats.total_ns;
  });
}

/// Of at least one; of an even number the mean of the middle two.
std::int64_t median_ns(std::vector<std::int64_t> durations_ns) {
  std::ranges::sort(durations_ns);
  const std::size_t count = durations_ns.size();
  return (durations_ns[(count - 1) / 2] + durations_ns[count / 2]) / 2;
}

/// "Conv2D" of AI_CORE, and so on; an op that the table does not know is N/A.
std::pair<std::string, std::string> type_of(const OpRow* op) {
  if (op == nullptr) return {"N/A", "N/A"};
  return {op->type, op->task_type};
}

std::vector<ApiTimes> times_of(const Database& profile, const std::string& rows, bool by_thread) {
  std::map<std::tuple<std::int64_t, std::int64_t, std::int64_t>, ApiTimes> by_call;
  Statement row =
      profile.connection().prepare("SELECT type, name, globalTid, endNs - startNs FROM " + rows);
  while (row.step()) {
    const std::int64_t thread = by_thread ? thread_of(row.integer(2)) : 0;
    ApiTimes& times = by_call[{row.integer(0), row.integer(1), thread}];
    if (times.stats.count == 0) {
      times.type = row.integer(0);
      times.thread = thread;
      times.name = profile.string(row.integer(1));
    }
    times.stats.add(row.integer(3));
  }
  std::vector<ApiTimes> all;
  for (auto& [key, times] : by_call) all.push_back(std::move(times));
  sort_by_total(all);
  return all;
}

}  // namespace

std::vector<OpTimes> op_times(const Database& profile, const ExportSelection& selection) {
  struct Runs {
    OpTimes times;
    std::vector<std::int64_t> durations_ns;
  };
  std::map<std::pair<std::int64_t, std::int64_t>, Runs> by_op;
  Statement row = profile.connection().prepare(
      "SELECT modelId, taskId, streamId, endNs - startNs FROM TASK" + task_filter(selection));
  while (row.step()) {
    auto& [times, durations_ns] = by_op[{row.integer(0), row.integer(1)}];
    if (times.stats.count == 0) {
      times.model_id = row.integer(0);
      times.task_id = row.integer(1);
      times.stream_id = row.integer(2);
      times.op = profile.op(times.model_id, times.task_id);
    }
    times.stats.add(row.integer(3));
    durations_ns.push_back(row.integer(3));
  }
  std::vector<OpTimes> all;
  for (auto& [key, runs] : by_op) {
    runs.times.median_ns = median_ns(std::move(runs.durations_ns));
    all.push_back(runs.times);
  }
  return all;
}

std::int64_t typical_ns(const std::vector<OpTimes>& ops) {
  std::int64_t sum_ns = 0;
  for (const OpTimes& op : ops) sum_ns += op.typical_ns();
  return sum_ns;
}

std::int64_t total_ns(const std::vector<OpTimes>& ops) {
  std::int64_t sum_ns = 0;
  for (const OpTimes& op : ops) sum_ns += op.stats.total_ns;
  return sum_ns;
}

std::vector<ApiTimes> api_times(const Database& profile, const ExportSelection& selection) {
  return times_of(profile, "CANN_API" + time_filter(selection), /*by_thread=*/false);
}

std::vector<ApiTimes> call_times(const Database& profile, const ExportSelection& selection,
                                 bool by_thread) {
  return times_of(profile, std::string(kCallsAlone) + time_filter(selection), by_thread);
}

std::vector<TypeTimes> type_times(const Database& profile, const ExportSelection& selection) {
  std::map<std::pair<std::string, std::string>, TypeTimes> by_type;
  Statement row = profile.connection().prepare("SELECT modelId, taskId, endNs - startNs FROM TASK" +
                                               task_filter(selection));
  while (row.step()) {
    const auto type = type_of(profile.op(row.integer(0), row.integer(1)));
    TypeTimes& times = by_type[type];
    if (times.stats.count == 0) std::tie(times.op_type, times.task_type) = type;
    times.stats.add(row.integer(2));
  }
  for (const OpTimes& op : op_times(profile, selection))
    by_type[type_of(op.op)].typical_ns += op.typical_ns();
  std::vector<TypeTimes> all;
  for (auto& [key, times] : by_type) all.push_back(std::move(times));
  sort_by_total(all);
  return all;
}

}  // namespace aoe::profiler
