// msprof_tx: marks and ranges of the application. They are of the host; a mark of a stream is reached there at once.
#include "profiler/export/api_names.h"
#include "profiler/export/selection.h"
#include "profiler/export/summary.h"

namespace aoe::profiler {
namespace {

constexpr std::int64_t kMarkerEx = 3;

void write_msprof_tx(const SummaryRequest& request, TableWriter& writer) {
  const Database& profile = request.profile;
  const std::int64_t offset_ns = profile.monotonic_to_unix_ns();
  Statement row = profile.connection().prepare(
      "SELECT globalTid, e.name, startNs, endNs, message, eventType, category, categoryName, "
      "payloadType, payloadValue, domainId FROM MSTX_EVENTS "
      "LEFT JOIN ENUM_MSTX_EVENT_TYPE e ON e.id = eventType" +
      time_filter(request.selection) + " ORDER BY startNs");
  const auto named = [&](int column) {
    row.is_null(column) ? writer.na() : writer.text(profile.string(row.integer(column)));
  };
  while (row.step()) {
    writer.text("host").integer(profile.process_id()).integer(thread_of(row.integer(0)));
    if (row.is_null(7) && !row.is_null(6))
      writer.integer(row.integer(6));
    else
      named(7);
    writer.text(row.text(1));
    row.is_null(8) ? writer.na() : writer.integer(row.integer(8));
    row.is_null(9) ? writer.na() : writer.text(row.text(9));
    const auto times = [&] {
      writer.us(row.integer(2) - offset_ns).us(row.integer(3) - offset_ns);
    };
    times();
    writer.na().text(profile.string(row.integer(4)));
    named(10);
    if (row.integer(5) == kMarkerEx)
      times();
    else
      writer.na().na();
    writer.end_row();
  }
}

}  // namespace

void register_msprof_tx(SummaryRegistry& registry) {
  registry.add({.name = "msprof_tx",
                .columns = {"Device_id", "pid", "tid", "category", "event_type", "payload_type",
                            "payload_value", "Start_time(us)", "End_time(us)", "message_type",
                            "message", "domain", "Device Start_time(us)", "Device End_time(us)"},
                .write = write_msprof_tx});
}

}  // namespace aoe::profiler
