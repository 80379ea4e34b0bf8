// api_statistic: the time of each API call of the host.
#include "profiler/export/api_names.h"
#include "profiler/export/op_times.h"
#include "profiler/export/summary.h"

namespace aoe::profiler {
namespace {

void write_api_statistic(const SummaryRequest& request, TableWriter& writer) {
  for (const ApiTimes& api : api_times(request.profile, request.selection))
    writer.text("host")
        .text(level_name(api.type))
        .text(api.name)
        .us(api.stats.total_ns)
        .integer(api.stats.count)
        .real(api.stats.average_us())
        .us(api.stats.min_ns)
        .us(api.stats.max_ns)
        .real(api.stats.variance_us2())
        .end_row();
}

}  // namespace

void register_api_statistic(SummaryRegistry& registry) {
  registry.add({.name = "api_statistic",
                .columns = {"Device_id", "Level", "API Name", "Time(us)", "Count", "Avg(us)",
                            "Min(us)", "Max(us)", "Variance"},
                .write = write_api_statistic});
}

}  // namespace aoe::profiler
