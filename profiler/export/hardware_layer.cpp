// The device's side of the timeline: on a CPU, the ops on the threads that ran them.
#include <set>
#include <unordered_map>

#include "profiler/export/api_names.h"
#include "profiler/export/layers.h"
#include "profiler/export/selection.h"

namespace aoe::profiler {
namespace {

/// Finds the API call that launched a task. Calls and tasks come nearly in order, so what was just
/// found is mostly what is asked for next.
class LaunchingCalls {
 public:
  struct Call {
    std::int64_t start_ns = 0;
    std::int64_t thread = 0;
    bool is_known = false;
  };

  explicit LaunchingCalls(const Database& profile)
      : query_(profile.connection().prepare(
            "SELECT startNs, globalTid FROM CANN_API WHERE connectionId = ? AND startNs <= ? "
            "ORDER BY startNs DESC LIMIT 1")) {}

  const Call& of(std::int64_t connection_id, std::int64_t task_start_ns) {
    if (calls_.size() > kMostCalls) calls_.clear();
    const auto [entry, is_new] = calls_.try_emplace(connection_id);
    // Connection ids wrap after a million runs: the latest call before the task is meant.
    if (!is_new && entry->second.start_ns <= task_start_ns) return entry->second;
    query_.bind(1, connection_id).bind(2, task_start_ns);
    entry->second = {};
    if (query_.step()) {
      entry->second = {query_.integer(0), thread_of(query_.integer(1)), true};
      query_.reset();
    }
    return entry->second;
  }

 private:
  static constexpr std::size_t kMostCalls = 4096;
  Statement query_;
  std::unordered_map<std::int64_t, Call> calls_;
};

class HardwareLayer {
 public:
  HardwareLayer(const Database& profile, TraceWriter& trace)
      : profile_(profile),
        trace_(trace),
        calls_(profile),
        pid_(layer_pid(profile.process_id(), Layer::kHardware, 0)),
        cann_pid_(layer_pid(profile.process_id(), Layer::kCann, kHostDevice)) {}

  void write(const Statement& row) {
    const std::int64_t start_ns = row.integer(0);
    const std::int64_t stream = row.integer(4);
    const std::int64_t connection = row.integer(5);
    const OpRow* op = profile_.op(row.integer(2), row.integer(3));
    const Track track{.pid = pid_, .tid = stream};
    announce(track);
    trace_
        .slice(op == nullptr ? std::string_view("N/A") : op->name, track,
               start_ns - profile_.monotonic_to_unix_ns(), row.integer(1) - start_ns)
        .arg("Model Id", row.integer(2))
        .arg("Task Type", op == nullptr ? std::string_view("N/A") : op->task_type)
        .arg("Physic Stream Id", stream)
        .arg("Task Id", row.integer(3))
        .arg("Batch Id", row.integer(7))
        .arg("Subtask Id", std::string_view("N/A"))
        .arg("connection_id", connection)
        .close();
    write_flow(track, start_ns, connection, row.integer(6));
  }

 private:
  void announce(const Track& track) {
    if (streams_.empty()) trace_.process(pid_, "Ascend Hardware", "NPU 0", Layer::kHardware);
    if (streams_.insert(track.tid).second)
      trace_.thread(track, "Stream " + std::to_string(track.tid), track.tid);
  }

  void write_flow(const Track& track, std::int64_t start_ns, std::int64_t connection,
                  std::int64_t task) {
    const LaunchingCalls::Call& call = calls_.of(connection, start_ns);
    if (!call.is_known) return;
    if (flow_connection_ != connection) {
      flow_connection_ = connection;
      flow_name_ = "HostToDevice" + std::to_string(connection);
    }
    const std::int64_t offset_ns = profile_.monotonic_to_unix_ns();
    // One call launches many tasks, but the end of a flow ends it: each task has its own.
    trace_.flow_start("HostToDevice", flow_name_, task, {cann_pid_, call.thread},
                      call.start_ns - offset_ns);
    trace_.flow_end("HostToDevice", flow_name_, task, track, start_ns - offset_ns);
  }

  const Database& profile_;
  TraceWriter& trace_;
  LaunchingCalls calls_;
  const std::int64_t pid_;
  const std::int64_t cann_pid_;
  std::set<std::int64_t> streams_;
  std::int64_t flow_connection_ = -1;
  std::string flow_name_;
};

}  // namespace

void write_hardware_layer(const Database& profile, const ExportSelection& selection,
                          TraceWriter& trace) {
  HardwareLayer layer(profile, trace);
  Statement row = profile.connection().prepare(
      "SELECT startNs, endNs, modelId, taskId, streamId, connectionId, globalTaskId, run "
      "FROM TASK" +
      task_filter(selection));
  while (row.step()) layer.write(row);
}

}  // namespace aoe::profiler
