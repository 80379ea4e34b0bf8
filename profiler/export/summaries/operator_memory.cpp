// operator_memory: every block, from its allocation to its release.
#include "profiler/export/selection.h"
#include "profiler/export/summary.h"

namespace aoe::profiler {
namespace {

void write_operator_memory(const SummaryRequest& request, TableWriter& writer) {
  const Database& profile = request.profile;
  const std::string time = time_filter(request.selection, "a.timestampNs");
  Statement row = profile.connection().prepare(
      "SELECT a.operatorName, a.size, a.timestampNs, a.totalAllocate, a.totalReserve, "
      "r.timestampNs, r.totalAllocate, r.totalReserve FROM NPU_OP_MEM a "
      "LEFT JOIN NPU_OP_MEM r ON r.type = 1 AND r.allocationNs = a.allocationNs "
      "AND r.operatorName = a.operatorName AND r.size = -a.size" +
      (time.empty() ? std::string(" WHERE") : time + " AND") +
      " a.type = 0 ORDER BY a.timestampNs, a.rowid");
  while (row.step()) {
    const auto kilobytes = [&](int column) {
      row.is_null(column) ? writer.na()
                          : writer.real(static_cast<double>(row.integer(column)) / 1024);
    };
    writer.integer(0).text(profile.string(row.integer(0)));
    kilobytes(1);
    writer.us(row.integer(2) - profile.monotonic_to_unix_ns());
    row.is_null(5) ? writer.na() : writer.us(row.integer(5) - row.integer(2));
    for (const int column : {3, 4, 6, 7}) kilobytes(column);
    writer.text("NPU:0").end_row();
  }
}

}  // namespace

void register_operator_memory(SummaryRegistry& registry) {
  registry.add({.name = "operator_memory",
                .columns = {"Device_id", "Name", "Size(KB)", "Allocation Time(us)", "Duration(us)",
                            "Allocation Total Allocated(KB)", "Allocation Total Reserved(KB)",
                            "Release Total Allocated(KB)", "Release Total Reserved(KB)", "Device"},
                .write = write_operator_memory});
}

}  // namespace aoe::profiler
