// The host's side of the timeline.
#include <set>
#include <unordered_map>

#include "profiler/export/api_names.h"
#include "profiler/export/layers.h"
#include "profiler/export/selection.h"

namespace aoe::profiler {

void write_api_layer(const Database& profile, const ExportSelection& selection,
                     TraceWriter& trace) {
  const std::int64_t pid = layer_pid(profile.process_id(), Layer::kCann, kHostDevice);
  const std::int64_t offset_ns = profile.monotonic_to_unix_ns();
  std::unordered_map<std::int64_t, std::string> labels;  // by type and name
  std::set<std::int64_t> threads;
  std::int64_t count = 0;
  Statement row = profile.connection().prepare(
      "SELECT startNs, endNs, type, globalTid, connectionId, name FROM CANN_API" +
      time_filter(selection));
  while (row.step()) {
    if (count++ == 0) trace.process(pid, "CANN", "CPU", Layer::kCann);
    const std::int64_t type = row.integer(2);
    const Track track{.pid = pid, .tid = thread_of(row.integer(3))};
    if (threads.insert(track.tid).second)
      trace.thread(track, "Thread " + std::to_string(track.tid), track.tid);
    const std::string& name = profile.string(row.integer(5));
    std::string& label = labels[row.integer(5) << 20 | type];
    if (label.empty()) label = std::string(layer_name(type)) + "@" + name;
    trace.slice(label, track, row.integer(0) - offset_ns, row.integer(1) - row.integer(0))
        .arg("Thread Id", track.tid)
        .arg("Mode", api_mode(name))
        .arg("level", level_name(type))
        .arg("id", name)
        .arg("item_id", std::string_view("N/A"))
        .arg("connection_id", row.integer(4))
        .close();
  }
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
