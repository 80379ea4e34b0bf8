// memory_record: the bytes of each component after each allocation and release.
#include "profiler/export/selection.h"
#include "profiler/export/summary.h"

namespace aoe::profiler {
namespace {

void write_memory_record(const SummaryRequest& request, TableWriter& writer) {
  const Database& profile = request.profile;
  Statement row = profile.connection().prepare(
      "SELECT component, timestampNs, totalAllocate, totalReserve FROM NPU_OP_MEM" +
      time_filter(request.selection, "timestampNs") + " ORDER BY timestampNs, rowid");
  while (row.step())
    writer.integer(0)
        .text(profile.string(row.integer(0)))
        .us(row.integer(1) - profile.monotonic_to_unix_ns())
        .real(static_cast<double>(row.integer(2)) / 1024)
        .real(static_cast<double>(row.integer(3)) / 1024)
        .text("NPU:0")
        .end_row();
}

}  // namespace

void register_memory_record(SummaryRegistry& registry) {
  registry.add({.name = "memory_record",
                .columns = {"Device_id", "Component", "Timestamp(us)", "Total Allocated(KB)",
                            "Total Reserved(KB)", "Device"},
                .write = write_memory_record});
}

}  // namespace aoe::profiler
