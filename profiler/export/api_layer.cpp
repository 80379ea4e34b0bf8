// The host's side of the timeline: calls of AscendCL, in them executions of models, in those the launches
// of nodes, and what the application marked.
#include <set>
#include <unordered_map>

#include "profiler/export/api_names.h"
#include "profiler/export/layers.h"
#include "profiler/export/selection.h"

namespace aoe::profiler {
namespace {

/// One process with a track for each thread. Slices that hold others are written before them, because
/// viewers take the first of two that begin together as the outer one.
class ApiLayer {
 public:
  ApiLayer(const Database& profile, const ExportSelection& selection, TraceWriter& trace)
      : profile_(profile),
        selection_(selection),
        trace_(trace),
        offset_ns_(profile.monotonic_to_unix_ns()),
        pid_(layer_pid(profile.process_id(), Layer::kCann, kHostDevice)) {}

  void write_calls() {
    std::unordered_map<std::int64_t, std::string> labels;  // by type and name
    Statement row = profile_.connection().prepare(
        "SELECT startNs, endNs, globalTid, connectionId, type, name FROM API_CALL" +
        time_filter(selection_));
    while (row.step()) {
      const std::int64_t type = row.integer(4);
      const std::string& api = profile_.string(row.integer(5));
      std::string& label = labels[row.integer(5) << 20 | type];
      if (label.empty()) label = std::string(layer_name(type)) + "@" + api;
      write(row, label, level_name(type), api, "N/A");
    }
  }

  void write_executions() {
    Statement row = profile_.connection().prepare(
        "SELECT startNs, endNs, globalTid, connectionId, modelId FROM MODEL_EXECUTION" +
        time_filter(selection_));
    while (row.step()) {
      const ModelRow* model = profile_.model(row.integer(4));
      write(row, "Model@ModelExecute", "model", "ModelExecute",
            model == nullptr ? std::string_view("N/A") : model->name);
    }
  }

  /// With the beginning of the arrow to the op that was launched.
  void write_launches() {
    Statement row = profile_.connection().prepare(
        "SELECT startNs, endNs, coalesce(thread.globalTid, streamId), connectionId, modelId, "
        "taskId, globalTaskId FROM TASK LEFT JOIN THREAD thread ON thread.id = streamId" +
        task_filter(selection_));
    std::int64_t named_connection = -1;
    std::string arrow;
    while (row.step()) {
      const OpRow* op = profile_.op(row.integer(4), row.integer(5));
      const Track track = write(row, "Node@launch", "node", "launch",
                                op == nullptr ? std::string_view("N/A") : op->name);
      if (named_connection != row.integer(3)) arrow = arrow_name(row.integer(3));
      named_connection = row.integer(3);
      trace_.flow_start(kArrowCategory, arrow, row.integer(6), track, row.integer(0) - offset_ns_);
    }
  }

 private:
  /// `row` begins with startNs, endNs, globalTid, connectionId.
  Track write(const Statement& row, std::string_view label, std::string_view level,
              std::string_view api, std::string_view item) {
    const Track track{.pid = pid_, .tid = thread_of(row.integer(2))};
    announce(track);
    trace_.slice(label, track, row.integer(0) - offset_ns_, row.integer(1) - row.integer(0))
        .arg("Thread Id", track.tid)
        .arg("Mode", api_mode(api))
        .arg("level", level)
        .arg("id", api)
        .arg("item_id", item)
        .arg("connection_id", row.integer(3))
        .close();
    return track;
  }

  void announce(const Track& track) {
    if (threads_.empty()) trace_.process(pid_, "CANN", "CPU", Layer::kCann);
    if (threads_.insert(track.tid).second)
      trace_.thread(track, "Thread " + std::to_string(track.tid), track.tid);
  }

  const Database& profile_;
  const ExportSelection& selection_;
  TraceWriter& trace_;
  const std::int64_t offset_ns_;
  const std::int64_t pid_;
  std::set<std::int64_t> threads_;
};

}  // namespace

void write_api_layer(const Database& profile, const ExportSelection& selection,
                     TraceWriter& trace) {
  ApiLayer layer(profile, selection, trace);
  layer.write_calls();
  layer.write_executions();
  layer.write_launches();
}

void write_mstx_layer(const Database& profile, const ExportSelection& selection,
                      TraceWriter& trace) {
  const std::int64_t pid = layer_pid(profile.process_id(), Layer::kMsTx, kHostDevice);
  const std::int64_t offset_ns = profile.monotonic_to_unix_ns();
  std::set<std::int64_t> threads;
  Statement row = profile.connection().prepare(
      "SELECT startNs, endNs, e.name, globalTid, message FROM MSTX_EVENTS "
      "LEFT JOIN ENUM_MSTX_EVENT_TYPE e ON e.id = eventType" +
      time_filter(selection));
  while (row.step()) {
    const Track track{.pid = pid, .tid = thread_of(row.integer(3))};
    if (threads.empty()) trace.process(pid, "msproftx", "CPU", Layer::kMsTx);
    if (threads.insert(track.tid).second)
      trace.thread(track, "Thread " + std::to_string(track.tid), track.tid);
    trace
        .slice(profile.string(row.integer(4)), track, row.integer(0) - offset_ns,
               row.integer(1) - row.integer(0))
        .arg("event_type", row.text(2))
        .close();
  }
}

}  // namespace aoe::profiler
