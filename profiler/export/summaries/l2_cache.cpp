// l2_cache: hits of the last-level cache by task, where a group with cache counters was collected.
#include "profiler/export/metrics.h"
#include "profiler/export/selection.h"
#include "profiler/export/summary.h"

namespace aoe::profiler {
namespace {

void write_l2_cache(const SummaryRequest& request, TableWriter& writer) {
  const Database& profile = request.profile;
  const CounterNames counters(profile);
  Statement row = profile.connection().prepare(
      "SELECT modelId, taskId, streamId, value0, value1, value2, value3, value4, value5, value6, "
      "value7 FROM TASK_COUNTERS" +
      task_filter(request.selection) + " ORDER BY startNs");
  while (row.step()) {
    TaskFigures task;
    for (int i = 0; i < static_cast<int>(kMostCounters); ++i)
      task.counters[static_cast<std::size_t>(i)] = row.integer(3 + i);
    const auto references = counters.value(task, "cache_references");
    const auto misses = counters.value(task, "cache_misses");
    if (!references || !misses) return;  // of another group
    const OpRow* op = profile.op(row.integer(0), row.integer(1));
    writer.integer(0).integer(row.integer(2)).integer(row.integer(1));
    *references > 0 ? writer.real(std::max(0.0, 1 - *misses / *references)) : writer.na();
    writer.na().text(op == nullptr ? "" : op->name).end_row();
  }
}

}  // namespace

void register_l2_cache(SummaryRegistry& registry) {
  registry.add(
      {.name = "l2_cache",
       .columns = {"Device_id", "Stream Id", "Task Id", "Hit Rate", "Victim Rate", "Op Name"},
       .write = write_l2_cache});
}

}  // namespace aoe::profiler
