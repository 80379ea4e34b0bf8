// msprof_tx: marks and ranges of the application. They are of the host; the device's times are its.
#include "profiler/export/api_names.h"
#include "profiler/export/selection.h"
#include "profiler/export/summary.h"

namespace aoe::profiler {
namespace {

void write(const SummaryRequest& request, TableWriter& writer) {
  const Database& profile = request.profile;
  const std::int64_t offset_ns = profile.monotonic_to_unix_ns();
  Statement row = profile.connection().prepare(
      "SELECT globalTid, e.name, startNs, endNs, message FROM MSTX_EVENTS "
      "LEFT JOIN ENUM_MSTX_EVENT_TYPE e ON e.id = eventType" +
      time_filter(request.selection) + " ORDER BY startNs");
  while (row.step())
    writer.text("host")
        .integer(profile.process_id())
        .integer(thread_of(row.integer(0)))
        .na()
        .text(row.text(1))
        .na()
        .na()
        .us(row.integer(2) - offset_ns)
        .us(row.integer(3) - offset_ns)
        .na()
        .text(profile.string(row.integer(4)))
        .na()
        .na()
        .na()
        .end_row();
}

}  // namespace

void register_msprof_tx(SummaryRegistry& registry) {
  registry.add({.name = "msprof_tx",
                .columns = {"Device_id", "pid", "tid", "category", "event_type", "payload_type",
                            "payload_value", "Start_time(us)", "End_time(us)", "message_type",
                            "message", "domain", "Device Start_time(us)", "Device End_time(us)"},
                .write = write});
}

}  // namespace aoe::profiler
