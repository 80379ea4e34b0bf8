// op_statistic and acl_statistic of the SS928 generation.
#include "profiler/export/api_names.h"
#include "profiler/export/job_names.h"
#include "profiler/export/op_times.h"
#include "profiler/export/summary.h"

namespace aoe::profiler {
namespace {

/// The iteration that a file is about; "all" without a selection.
std::string iteration_part(const ExportSelection& selection) {
  return selection.iteration ? std::to_string(selection.iteration->iteration_id) : "all";
}

/// Behind what it says of its own, how a row ends.
void write_times(const DurationStats& stats, std::int64_t all_ns, TableWriter& writer) {
  writer.real(stats.percent_of(all_ns))
      .us(stats.total_ns)
      .integer(stats.count)
      .real(stats.average_us())
      .us(stats.max_ns)
      .us(stats.min_ns)
      .end_row();
}

void write_ops(const SummaryRequest& request, TableWriter& writer) {
  std::vector<OpTimes> ops = op_times(request.profile, request.selection);
  std::erase_if(ops, [&](const OpTimes& op) { return op.model_id != request.model->id; });
  const std::int64_t all_ns = total_ns(ops);
  for (const OpTimes& op : ops) {
    writer.integer(op.task_id)
        .integer(op.stream_id)
        .text(op.op == nullptr ? "" : op.op->name)
        .text(op.op == nullptr ? "" : job_task_type(op.op->task_type));
    write_times(op.stats, all_ns, writer);
  }
}

void write_calls(const SummaryRequest& request, TableWriter& writer) {
  const std::vector<ApiTimes> calls =
      call_times(request.profile, request.selection, /*by_thread=*/true);
  std::int64_t all_ns = 0;
  for (const ApiTimes& call : calls) all_ns += call.stats.total_ns;
  for (const ApiTimes& call : calls) {
    writer.integer(request.profile.process_id())
        .integer(call.thread)
        .text(job_api_type(call.type, call.name))
        .text(call.name);
    write_times(call.stats, all_ns, writer);
  }
}

std::vector<SummaryPart> parts_of(const Database& profile, const ExportSelection& selection,
                                  const std::string& name, bool with_pictures) {
  std::vector<SummaryPart> parts;
  for (const ModelRow& model : profile.models()) {
    if (selection.iteration && selection.iteration->model_id != model.id) continue;
    parts.push_back({name + "_0_" + std::to_string(model.id) +
                         (with_pictures ? "_" + picture_count(profile, model, selection) : "") +
                         "_" + iteration_part(selection),
                     &model});
  }
  return parts;
}

}  // namespace

void register_job_statistics(SummaryRegistry& registry) {
  registry.add({.name = "op_statistic",
                .generation = Generation::kJob,
                .columns = {"Task ID", "Stream ID", "OP Name", "Task Type", "Total Time Ratio(%)",
                            "Total Time(us)", "Count", "Avg(us)", "Max(us)", "Min(us)"},
                .write = write_ops,
                .parts = [](const Database& profile, const ExportSelection& selection) {
                  return parts_of(profile, selection, "op_statistic", true);
                }});
  registry.add({.name = "acl_statistic",
                .generation = Generation::kJob,
                .columns = {"Process ID", "Thread ID", "Type", "Name", "Total Time Ratio(%)",
                            "Total Time(us)", "Count", "Avg(us)", "Max(us)", "Min(us)"},
                .write = write_calls,
                .parts = [](const Database& profile, const ExportSelection& selection) {
                  return parts_of(profile, selection, "acl_statistic", false);
                }});
}

}  // namespace aoe::profiler
