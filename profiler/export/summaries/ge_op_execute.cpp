// ge_op_execute: each launch of a node, on the thread that launches it.
#include "profiler/export/api_names.h"
#include "profiler/export/selection.h"
#include "profiler/export/summary.h"

namespace aoe::profiler {
namespace {

void write_ge_op_execute(const SummaryRequest& request, TableWriter& writer) {
  const Database& profile = request.profile;
  const std::int64_t offset_ns = profile.monotonic_to_unix_ns();
  Statement row = profile.connection().prepare(
      "SELECT startNs, endNs, modelId, taskId, coalesce(thread.globalTid, streamId) FROM TASK "
      "LEFT JOIN THREAD thread ON thread.id = streamId" +
      task_filter(request.selection) + " ORDER BY startNs");
  while (row.step()) {
    const OpRow* op = profile.op(row.integer(2), row.integer(3));
    writer.integer(0)
        .integer(thread_of(row.integer(4)))
        .text(op == nullptr ? "" : op->name)
        .text(op == nullptr ? "" : op->type)
        .text("launch")
        .us(row.integer(0) - offset_ns)
        .us(row.integer(1) - row.integer(0))
        .end_row();
  }
}

}  // namespace

void register_ge_op_execute(SummaryRegistry& registry) {
  registry.add({.name = "ge_op_execute",
                .columns = {"Device_id", "Thread ID", "OP Name", "OP Type", "Event Type",
                            "Start Time(us)", "Duration(us)"},
                .write = write_ge_op_execute});
}

}  // namespace aoe::profiler
