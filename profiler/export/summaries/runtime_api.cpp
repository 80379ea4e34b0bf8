// runtime_api: the time of each call of the runtime (--runtime-api), by thread. Columns of older
// releases, which count in nanoseconds.
#include <unordered_map>

#include "profiler/export/api_names.h"
#include "profiler/export/op_times.h"
#include "profiler/export/selection.h"
#include "profiler/export/summary.h"

namespace aoe::profiler {
namespace {

/// The stream that a thread's tasks have, by thread.
std::unordered_map<std::int64_t, std::int64_t> streams_of(const Database& profile) {
  std::unordered_map<std::int64_t, std::int64_t> streams;
  Statement row = profile.connection().prepare("SELECT globalTid, id FROM THREAD");
  while (row.step()) streams[thread_of(row.integer(0))] = row.integer(1);
  return streams;
}

void write_runtime_api(const SummaryRequest& request, TableWriter& writer) {
  std::vector<ApiTimes> calls = call_times(request.profile, request.selection, /*by_thread=*/true);
  std::erase_if(calls, [](const ApiTimes& call) { return level_name(call.type) != "runtime"; });
  std::int64_t all_ns = 0;
  for (const ApiTimes& call : calls) all_ns += call.stats.total_ns;
  const auto streams = streams_of(request.profile);
  for (const ApiTimes& call : calls) {
    const auto stream = streams.find(call.thread);
    writer.integer(0).text(call.name);
    if (stream == streams.end())
      writer.na();
    else
      writer.integer(stream->second);
    writer.real(call.stats.percent_of(all_ns))
        .integer(call.stats.total_ns)
        .integer(call.stats.count)
        .real(call.stats.average_us() * 1e3)
        .integer(call.stats.min_ns)
        .integer(call.stats.max_ns)
        .integer(request.profile.process_id())
        .integer(call.thread)
        .end_row();
  }
}

}  // namespace

void register_runtime_api(SummaryRegistry& registry) {
  registry.add({.name = "runtime_api",
                .columns = {"Device_id", "Name", "Stream ID", "Time(%)", "Time(ns)", "Calls",
                            "Avg(ns)", "Min(ns)", "Max(ns)", "Process ID", "Thread ID"},
                .write = write_runtime_api});
}

}  // namespace aoe::profiler
