// The device's side of the timeline: on a CPU, the ops on the threads that ran them.
#include <set>

#include "profiler/export/api_names.h"
#include "profiler/export/layers.h"
#include "profiler/export/selection.h"

namespace aoe::profiler {
namespace {

struct Process {
  const char* name;
  Layer layer;
  bool has_arrows;
};

void write_tasks(const Database& profile, const ExportSelection& selection, const Process& process,
                 TraceWriter& trace) {
  const std::int64_t pid = layer_pid(profile.process_id(), process.layer, 0);
  const std::int64_t offset_ns = profile.monotonic_to_unix_ns();
  std::set<std::int64_t> streams;
  std::int64_t named_connection = -1;
  std::string arrow;
  Statement row = profile.connection().prepare(
      "SELECT startNs, endNs, modelId, taskId, streamId, connectionId, globalTaskId, run "
      "FROM TASK" +
      task_filter(selection));
  while (row.step()) {
    const std::int64_t connection = row.integer(5);
    const OpRow* op = profile.op(row.integer(2), row.integer(3));
    const Track track{.pid = pid, .tid = row.integer(4)};
    if (streams.empty()) trace.process(pid, process.name, "NPU 0", process.layer);
    if (streams.insert(track.tid).second)
      trace.thread(track, "Stream " + std::to_string(track.tid), track.tid);
    trace
        .slice(op == nullptr ? std::string_view("N/A") : op->name, track,
               row.integer(0) - offset_ns, row.integer(1) - row.integer(0))
        .arg("Model Id", row.integer(2))
        .arg("Task Type", op == nullptr ? std::string_view("N/A") : op->task_type)
        .arg("Physic Stream Id", track.tid)
        .arg("Task Id", row.integer(3))
        .arg("Batch Id", row.integer(7))
        .arg("Subtask Id", std::string_view("N/A"))
        .arg("connection_id", connection)
        .close();
    if (!process.has_arrows) continue;
    if (named_connection != connection) arrow = arrow_name(connection);
    named_connection = connection;
    // One call launches many tasks, but the end of an arrow ends it: each task has its own.
    trace.flow_end(kArrowCategory, arrow, row.integer(6), track, row.integer(0) - offset_ns);
  }
}

}  // namespace

void write_hardware_layer(const Database& profile, const ExportSelection& selection,
                          TraceWriter& trace) {
  write_tasks(profile, selection, {"Ascend Hardware", Layer::kHardware, true}, trace);
}

void write_task_layer(const Database& profile, const ExportSelection& selection,
                      TraceWriter& trace) {
  write_tasks(profile, selection, {"Task Scheduler", Layer::kTaskScheduler, false}, trace);
}

}  // namespace aoe::profiler
