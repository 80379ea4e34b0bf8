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
  std::map<std::pair<std::int64_t, std::int64_t>, OpTimes> by_op;
  Statement row = profile.connection().prepare(
      "SELECT modelId, taskId, streamId, endNs - startNs FROM TASK" + task_filter(selection));
  while (row.step()) {
    OpTimes& times = by_op[{row.integer(0), row.integer(1)}];
    if (times.stats.count == 0) {
      times.model_id = row.integer(0);
      times.task_id = row.integer(1);
      times.stream_id = row.integer(2);
      times.op = profile.op(times.model_id, times.task_id);
    }
    times.stats.add(row.integer(3));
  }
  std::vector<OpTimes> all;
  for (auto& [key, times] : by_op) all.push_back(std::move(times));
  return all;
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
  static const std::string kUnknown = "N/A";
  while (row.step()) {
    const OpRow* op = profile.op(row.integer(0), row.integer(1));
    const std::string& op_type = op == nullptr ? kUnknown : op->type;
    const std::string& task_type = op == nullptr ? kUnknown : op->task_type;
    TypeTimes& times = by_type[{op_type, task_type}];
    if (times.stats.count == 0) {
      times.op_type = op_type;
      times.task_type = task_type;
    }
    times.stats.add(row.integer(2));
  }
  std::vector<TypeTimes> all;
  for (auto& [key, times] : by_type) all.push_back(std::move(times));
  sort_by_total(all);
  return all;
}

}  // namespace aoe::profiler
