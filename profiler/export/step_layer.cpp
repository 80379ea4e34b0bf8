// Iterations: each a slice, with the bound of data augmentation, FP_BP and refresh inside it.
#include <set>

#include "profiler/export/layers.h"

namespace aoe::profiler {

void write_step_layer(const Database& profile, const ExportSelection& selection,
                      TraceWriter& trace) {
  const std::int64_t pid = layer_pid(profile.process_id(), Layer::kStepTrace, 0);
  std::string filter;
  if (selection.iteration)
    filter = " WHERE modelId = " + std::to_string(selection.iteration->model_id) +
             " AND iterationId = " + std::to_string(selection.iteration->iteration_id);
  Statement row = profile.connection().prepare(
      "SELECT modelId, iterationId, fpStartNs, bpEndNs, iterationEndNs, iterationNs, fpToBpNs, "
      "iterationRefreshNs, dataAugBoundNs FROM STEP_TRACE" +
      filter);
  constexpr std::int64_t kProgramTrack = -1;  // no model has this id
  std::set<std::int64_t> models;
  while (row.step()) {
    const Track track{.pid = pid, .tid = row.is_null(0) ? kProgramTrack : row.integer(0)};
    if (models.empty()) trace.process(pid, "Step Trace", "NPU 0", Layer::kStepTrace);
    if (models.insert(track.tid).second)
      trace.thread(track,
                   row.is_null(0) ? "Step Trace(program)"
                                  : "Step Trace(Model ID:" + std::to_string(track.tid) + ")",
                   track.tid);
    const std::string number = " " + std::to_string(row.integer(1));
    const std::int64_t offset_ns = profile.monotonic_to_unix_ns();
    const auto part = [&](const char* name, std::int64_t start_ns, int duration_column) {
      if (row.is_null(duration_column)) return;
      trace.slice(name + number, track, start_ns - offset_ns, row.integer(duration_column))
          .arg("Iteration ID", row.integer(1))
          .close();
    };
    part("Iteration", row.integer(4) - row.integer(5), 5);
    part("Data_aug Bound", row.integer(2) - row.integer(8), 8);
    part("FP_BP Time", row.integer(2), 6);
    part("Iteration Refresh", row.integer(3), 7);
  }
}

}  // namespace aoe::profiler
