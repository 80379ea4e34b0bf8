// ai_stack_time: what each module of the host did for each execution of a model.
#include "profiler/export/api_names.h"
#include "profiler/export/selection.h"
#include "profiler/export/summary.h"

namespace aoe::profiler {
namespace {

void write_ai_stack_time(const SummaryRequest& request, TableWriter& writer) {
  const Database& profile = request.profile;
  const std::int64_t offset_ns = profile.monotonic_to_unix_ns();
  const std::string time = time_filter(request.selection);
  Statement row = profile.connection().prepare(
      "SELECT startNs, endNs, connectionId, type, name FROM CANN_API" +
      (time.empty() ? std::string(" WHERE") : time + " AND") +
      " connectionId IS NOT NULL AND type <> 10000 ORDER BY startNs, endNs DESC");
  while (row.step())
    writer.integer(0)
        .integer(row.integer(2) >> kModelBits)
        .text(component_name(row.integer(3)))
        .text(profile.string(row.integer(4)))
        .us(row.integer(0) - offset_ns)
        .integer(row.integer(1) - row.integer(0))
        .end_row();
}

}  // namespace

void register_ai_stack_time(SummaryRegistry& registry) {
  registry.add(
      {.name = "ai_stack_time",
       .columns = {"Device_id", "Infer ID", "Module", "API", "Start Time(us)", "Duration(ns)"},
       .write = write_ai_stack_time});
}

}  // namespace aoe::profiler
