// Series over time: samples of the system, memory by component.
#include <map>

#include "profiler/export/layers.h"
#include "profiler/export/selection.h"

namespace aoe::profiler {
namespace {

struct SampleProcess {
  Layer layer;
  const char* name;
};

/// Which process of the timeline shows a series, by a word of its name.
SampleProcess process_of(const std::string& series) {
  if (series.find("freq") != std::string::npos) return {Layer::kFrequency, "AI Core Freq"};
  if (series.find("mem") != std::string::npos) return {Layer::kMemoryUsage, "Memory Usage"};
  return {Layer::kCpuUsage, "CPU Usage"};
}

/// Announces each process once.
class Processes {
 public:
  Processes(const Database& profile, TraceWriter& trace) : profile_(profile), trace_(trace) {}
  Track track(const SampleProcess& process, int device) {
    const std::int64_t pid = layer_pid(profile_.process_id(), process.layer, device);
    if (!known_[pid]) {
      known_[pid] = true;
      trace_.process(pid, process.name, device == kHostDevice ? "CPU" : "NPU 0", process.layer);
    }
    return {.pid = pid};
  }

 private:
  const Database& profile_;
  TraceWriter& trace_;
  std::map<std::int64_t, bool> known_;
};

}  // namespace

void write_sample_layer(const Database& profile, const ExportSelection& selection,
                        TraceWriter& trace) {
  Processes processes(profile, trace);
  Statement row = profile.connection().prepare("SELECT timestampNs, series, value FROM SAMPLE" +
                                               time_filter(selection, "timestampNs"));
  while (row.step()) {
    const std::string& series = profile.string(row.integer(1));
    trace
        .counter(series, processes.track(process_of(series), kHostDevice),
                 row.integer(0) - profile.monotonic_to_unix_ns())
        .arg("value", row.real(2))
        .close();
  }
}

void write_memory_layer(const Database& profile, const ExportSelection& selection,
                        TraceWriter& trace) {
  Processes processes(profile, trace);
  Statement row =
      profile.connection().prepare("SELECT timestampNs, component, totalAllocate FROM NPU_OP_MEM" +
                                   time_filter(selection, "timestampNs"));
  while (row.step())
    trace
        .counter(profile.string(row.integer(1)), processes.track({Layer::kNpuMemory, "NPU MEM"}, 0),
                 row.integer(0) - profile.monotonic_to_unix_ns())
        .arg("KB", static_cast<double>(row.integer(2)) / 1024)
        .close();
}

}  // namespace aoe::profiler
