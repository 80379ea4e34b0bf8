// The host's side of the timeline: calls of AscendCL, in them executions of models, in those the launches
// of nodes, and what the application marked.
#include <set>
#include <unordered_map>
#include <utility>

#include "profiler/export/api_names.h"
#include "profiler/export/layers.h"
#include "profiler/export/selection.h"

namespace aoe::profiler {
namespace {

/// One process with a track for each thread. Slices that hold others are written before them, because
/// viewers take the first of two that begin together as the outer one.
class ApiLayer {
 public:
  ApiLayer(const Database& profile, const ExportSelection& selection, const ApiView& view,
           TraceWriter& trace)
      : profile_(profile),
        selection_(selection),
        view_(view),
        trace_(trace),
        offset_ns_(profile.monotonic_to_unix_ns()) {}

  void write_calls() {
    std::unordered_map<std::int64_t, std::string> labels;  // by type and name
    Statement row = profile_.connection().prepare(
        "SELECT startNs, endNs, globalTid, connectionId, type, name FROM API_CALL" +
        time_filter(selection_));
    while (row.step()) {
      const std::int64_t type = row.integer(4);
      if (!is_wanted(type)) continue;
      const std::string& api = profile_.string(row.integer(5));
      std::string& label = labels[row.integer(5) << 20 | type];
      if (label.empty()) label = std::string(layer_name(type)) + "@" + api;
      write(row, component_of(type), label, level_name(type), api, "N/A");
    }
  }

  void write_executions() {
    if (!view_.model) return;
    Statement row = profile_.connection().prepare(
        "SELECT startNs, endNs, globalTid, connectionId, modelId FROM MODEL_EXECUTION" +
        time_filter(selection_));
    while (row.step()) {
      const ModelRow* model = profile_.model(row.integer(4));
      write(row, kGraphEngine, "Model@ModelExecute", "model", "ModelExecute",
            model == nullptr ? std::string_view("N/A") : model->name);
    }
  }

  /// With the beginning of the arrow to the op that was launched.
  void write_launches() {
    if (!view_.node) return;
    Statement row = profile_.connection().prepare(
        "SELECT startNs, endNs, coalesce(thread.globalTid, streamId), connectionId, modelId, "
        "taskId, globalTaskId FROM TASK LEFT JOIN THREAD thread ON thread.id = streamId" +
        task_filter(selection_));
    std::int64_t named_connection = -1;
    std::string arrow;
    while (row.step()) {
      const OpRow* op = profile_.op(row.integer(4), row.integer(5));
      const Track track = write(row, kGraphEngine, "Node@launch", "node", "launch",
                                op == nullptr ? std::string_view("N/A") : op->name);
      if (!view_.arrows) continue;
      if (named_connection != row.integer(3)) arrow = arrow_name(row.integer(3));
      named_connection = row.integer(3);
      trace_.flow_start(kArrowCategory, arrow, row.integer(6), track, row.integer(0) - offset_ns_);
    }
  }

 private:
  struct Component {
    std::string_view name;
    Layer layer;
  };
  static constexpr Component kCann{"CANN", Layer::kCann};
  static constexpr Component kAscendCl{"AscendCL", Layer::kAscendCl};
  static constexpr Component kGraphEngine{"GE", Layer::kGraphEngine};
  static constexpr Component kRuntime{"Runtime", Layer::kRuntime};

  static const Component& component_of(std::int64_t type) {
    const std::string_view name = component_name(type);
    return name == kGraphEngine.name ? kGraphEngine : name == kRuntime.name ? kRuntime : kAscendCl;
  }

  bool is_wanted(std::int64_t type) const {
    const Component& component = component_of(type);
    if (&component == &kGraphEngine) return level_name(type) == "node" ? view_.node : view_.model;
    return &component == &kRuntime ? view_.runtime : view_.acl;
  }

  /// `row` begins with startNs, endNs, globalTid, connectionId.
  Track write(const Statement& row, const Component& component, std::string_view label,
              std::string_view level, std::string_view api, std::string_view item) {
    const Component& process = view_.process_per_level ? component : kCann;
    const Track track{.pid = layer_pid(profile_.process_id(), process.layer, kHostDevice),
                      .tid = thread_of(row.integer(2))};
    announce(process, track);
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

  void announce(const Component& process, const Track& track) {
    if (processes_.insert(track.pid).second)
      trace_.process(track.pid, process.name, "CPU", process.layer);
    if (threads_.insert({track.pid, track.tid}).second)
      trace_.thread(track, "Thread " + std::to_string(track.tid), track.tid);
  }

  const Database& profile_;
  const ExportSelection& selection_;
  const ApiView view_;
  TraceWriter& trace_;
  const std::int64_t offset_ns_;
  std::set<std::int64_t> processes_;
  std::set<std::pair<std::int64_t, std::int64_t>> threads_;  ///< process, thread
};

}  // namespace

void write_api_layer(const Database& profile, const ExportSelection& selection,
                     TraceWriter& trace) {
  write_api_view(profile, selection,
                 {.acl = true, .model = true, .node = true, .runtime = true, .arrows = true},
                 trace);
}

void write_api_view(const Database& profile, const ExportSelection& selection, const ApiView& view,
                    TraceWriter& trace) {
  ApiLayer layer(profile, selection, view, trace);
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
      "SELECT startNs, endNs, e.name, globalTid, message, category, categoryName, domainId, "
      "payloadValue FROM MSTX_EVENTS "
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
        .arg("event_type", row.text(2));
    if (!row.is_null(6))
      trace.arg("category", profile.string(row.integer(6)));
    else if (!row.is_null(5))
      trace.arg("category", row.integer(5));
    if (!row.is_null(7)) trace.arg("domain", profile.string(row.integer(7)));
    if (!row.is_null(8)) trace.arg("payload", row.text(8));
    trace.close();
  }
}

}  // namespace aoe::profiler
