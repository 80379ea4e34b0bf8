// step_trace: the parts of each iteration. Without a collective there are no Reduce columns.
#include "profiler/export/summary.h"

namespace aoe::profiler {
namespace {

void write_step_trace(const SummaryRequest& request, TableWriter& writer) {
  const Database& profile = request.profile;
  const std::int64_t offset_ns = profile.monotonic_to_unix_ns();
  std::string filter;
  if (const auto& iteration = request.selection.iteration)
    filter = " WHERE modelId = " + std::to_string(iteration->model_id) +
             " AND iterationId = " + std::to_string(iteration->iteration_id);
  Statement row = profile.connection().prepare(
      "SELECT iterationId, fpStartNs, bpEndNs, iterationEndNs, iterationNs, fpToBpNs, "
      "iterationRefreshNs, dataAugBoundNs, modelId FROM STEP_TRACE" +
      filter + " ORDER BY iterationEndNs");
  while (row.step()) {
    const auto cell = [&](int column, std::int64_t subtract_ns) {
      row.is_null(column) ? writer.na() : writer.us(row.integer(column) - subtract_ns);
    };
    writer.integer(0).integer(row.integer(0));
    for (const int point : {1, 2, 3}) cell(point, offset_ns);
    for (const int duration : {4, 5, 6, 7}) cell(duration, 0);
    row.is_null(8) ? writer.na() : writer.integer(row.integer(8));
    writer.end_row();
  }
}

}  // namespace

void register_step_trace(SummaryRegistry& registry) {
  registry.add({.name = "step_trace",
                .columns = {"Device_id", "Iteration ID", "FP Start(us)", "BP End(us)",
                            "Iteration End(us)", "Iteration Time(us)", "FP to BP Time(us)",
                            "Iteration Refresh(us)", "Data Aug Bound(us)", "Model ID"},
                .write = write_step_trace});
}

}  // namespace aoe::profiler
