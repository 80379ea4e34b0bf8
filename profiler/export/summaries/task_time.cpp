// task_time: when each task began and ended.
#include "profiler/export/api_names.h"
#include "profiler/export/selection.h"
#include "profiler/export/summary.h"

namespace aoe::profiler {
namespace {

void write_task_time(const SummaryRequest& request, TableWriter& writer) {
  const Database& profile = request.profile;
  const std::int64_t offset_ns = profile.monotonic_to_unix_ns();
  Statement row =
      profile.connection().prepare("SELECT startNs, endNs, modelId, taskId, streamId FROM TASK" +
                                   task_filter(request.selection) + " ORDER BY startNs");
  while (row.step()) {
    const OpRow* op = profile.op(row.integer(2), row.integer(3));
    writer.integer(0)
        .text(op == nullptr ? "" : op->name)
        .text(op == nullptr ? "" : kernel_type(op->task_type))
        .integer(row.integer(4))
        .integer(row.integer(3))
        .us(row.integer(1) - row.integer(0))
        .us(row.integer(0) - offset_ns)
        .us(row.integer(1) - offset_ns)
        .end_row();
  }
}

}  // namespace

void register_task_time(SummaryRegistry& registry) {
  registry.add({.name = "task_time",
                .columns = {"Device_id", "kernel_name", "kernel_type", "stream_id", "task_id",
                            "task_time(us)", "task_start(us)", "task_stop(us)"},
                .write = write_task_time});
}

}  // namespace aoe::profiler
