// op_statistic: the time of each op type.
#include "profiler/export/op_times.h"
#include "profiler/export/summary.h"

namespace aoe::profiler {
namespace {

void write_op_statistic(const SummaryRequest& request, TableWriter& writer) {
  const std::vector<TypeTimes> types = type_times(request.profile, request.selection);
  std::int64_t all_ns = 0;
  for (const TypeTimes& type : types) all_ns += type.stats.total_ns;
  for (const TypeTimes& type : types)
    writer.integer(0)
        .text(type.op_type)
        .text(type.task_type)
        .integer(type.stats.count)
        .us(type.stats.total_ns)
        .us(type.stats.min_ns)
        .real(type.stats.average_us())
        .us(type.stats.max_ns)
        .real(type.stats.percent_of(all_ns))
        .end_row();
}

}  // namespace

void register_op_statistic(SummaryRegistry& registry) {
  registry.add({.name = "op_statistic",
                .columns = {"Device_id", "OP Type", "Core Type", "Count", "Total Time(us)",
                            "Min Time(us)", "Avg Time(us)", "Max Time(us)", "Ratio(%)"},
                .write = write_op_statistic});
}

}  // namespace aoe::profiler
