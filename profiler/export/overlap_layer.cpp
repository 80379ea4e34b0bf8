// Overlap Analysis: a track for when ops run and one for when none does.
#include "profiler/database/overlap.h"
#include "profiler/export/layers.h"
#include "profiler/export/selection.h"

namespace aoe::profiler {

void write_overlap_layer(const Database& profile, const ExportSelection& selection,
                         TraceWriter& trace) {
  const std::int64_t pid = layer_pid(profile.process_id(), Layer::kOverlap, 0);
  const Track computing{.pid = pid, .tid = kOverlapComputing};
  const Track free{.pid = pid, .tid = kOverlapFree};
  bool is_announced = false;
  Statement row = profile.connection().prepare("SELECT startNs, endNs, type FROM OVERLAP_ANALYSIS" +
                                               time_filter(selection));
  while (row.step()) {
    if (!is_announced) {
      trace.process(pid, "Overlap Analysis", "NPU 0", Layer::kOverlap);
      trace.thread(computing, "Computing", computing.tid);
      trace.thread(free, "Free", free.tid);
      is_announced = true;
    }
    const bool computes = row.integer(2) == kOverlapComputing;
    trace
        .slice(computes ? "Computing" : "Free", computes ? computing : free,
               row.integer(0) - profile.monotonic_to_unix_ns(), row.integer(1) - row.integer(0))
        .close();
  }
}

}  // namespace aoe::profiler
