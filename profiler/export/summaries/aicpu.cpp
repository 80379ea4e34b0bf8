// aicpu: the tasks that ran on an operator's plain reference. There is no copy and no dispatch to
// tell apart from computing: the thread that launches computes.
#include "profiler/export/selection.h"
#include "profiler/export/summary.h"

namespace aoe::profiler {
namespace {

void write_aicpu(const SummaryRequest& request, TableWriter& writer) {
  const Database& profile = request.profile;
  Statement row =
      profile.connection().prepare("SELECT startNs, endNs, modelId, taskId, streamId FROM TASK" +
                                   task_filter(request.selection) + " ORDER BY startNs");
  while (row.step()) {
    const OpRow* op = profile.op(row.integer(2), row.integer(3));
    if (op == nullptr || op->task_type != "AI_CPU") continue;
    const std::int64_t duration_ns = row.integer(1) - row.integer(0);
    writer.integer(0)
        .us(row.integer(0) - profile.monotonic_to_unix_ns())
        .text(op->name)
        .us(duration_ns)
        .na()
        .us(duration_ns)
        .na()
        .us(duration_ns)
        .integer(row.integer(4))
        .integer(row.integer(3))
        .end_row();
  }
}

}  // namespace

void register_aicpu(SummaryRegistry& registry) {
  registry.add(
      {.name = "aicpu",
       .columns = {"Device_id", "Timestamp(us)", "Node", "Compute_time(us)", "Memcpy_time(us)",
                   "Task_time(us)", "Dispatch_time(us)", "Total_time(us)", "Stream ID", "Task ID"},
       .write = write_aicpu});
}

}  // namespace aoe::profiler
