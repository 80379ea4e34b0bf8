// op_summary: every task with its op's description, its counters, and what shapes alone tell.
#include <unordered_map>

#include "profiler/export/metrics.h"
#include "profiler/export/selection.h"
#include "profiler/export/summary.h"

namespace aoe::profiler {
namespace {

constexpr const char* kCounterValues =
    ", c.value0, c.value1, c.value2, c.value3, c.value4, c.value5, c.value6, c.value7";
constexpr int kFirstCounter = 6;

/// Tasks by time; with their counters when any were collected.
Statement select_tasks(const SummaryRequest& request, bool with_counters) {
  std::string sql = "SELECT t.startNs, t.endNs, t.modelId, t.taskId, t.streamId, t.run";
  if (with_counters) sql += kCounterValues;
  sql += " FROM (SELECT * FROM TASK" + task_filter(request.selection) + ") t";
  if (with_counters)
    sql +=
        " LEFT JOIN TASK_COUNTERS c ON c.modelId = t.modelId AND c.run = t.run "
        "AND c.taskId = t.taskId AND c.startNs = t.startNs AND c.streamId = t.streamId";
  return request.profile.connection().prepare(sql + " ORDER BY t.startNs");
}

void write_description(const OpRow* op, TableWriter& writer) {
  static const OpRow kUnknown;
  const OpRow& o = op == nullptr ? kUnknown : *op;
  writer.text(o.input_shapes)
      .text(o.input_data_types)
      .text(o.input_formats)
      .text(o.output_shapes)
      .text(o.output_data_types)
      .text(o.output_formats);
}

void write_op_summary(const SummaryRequest& request, TableWriter& writer) {
  const Database& profile = request.profile;
  const CounterNames counters(profile);
  const bool with_counters = counters.any() && profile.has_rows("TASK_COUNTERS");
  std::unordered_map<std::int64_t, std::int64_t> last_end_ns;  // by stream
  Statement row = select_tasks(request, with_counters);
  while (row.step()) {
    const std::int64_t start_ns = row.integer(0);
    const std::int64_t duration_ns = row.integer(1) - start_ns;
    const ModelRow* model = profile.model(row.integer(2));
    const OpRow* op = profile.op(row.integer(2), row.integer(3));
    const auto last = last_end_ns.try_emplace(row.integer(4), start_ns).first;
    TaskFigures task = figures_of(profile, model, op, duration_ns);
    for (int i = 0; with_counters && i < static_cast<int>(kMostCounters); ++i)
      if (!row.is_null(kFirstCounter + i))
        task.counters[static_cast<std::size_t>(i)] = row.integer(kFirstCounter + i);
    const bool is_core = op != nullptr && op->task_type == "AI_CORE";
    writer.integer(0)
        .text(model == nullptr ? "" : model->name)
        .integer(row.integer(2))
        .integer(row.integer(3))
        .integer(row.integer(4))
        .integer(row.integer(5))
        .text(op == nullptr ? "" : op->name)
        .text(op == nullptr ? "" : op->type)
        .na()
        .text(op == nullptr ? "" : op->task_type)
        .us(start_ns - profile.monotonic_to_unix_ns())
        .us(duration_ns)
        .us(start_ns - last->second)
        .integer(model == nullptr ? std::nullopt : model->threads)
        .na()
        .na();
    last->second = row.integer(1);
    write_description(op, writer);
    writer.na();
    is_core ? writer.us(duration_ns) : writer.na();
    writer.real(counters.value(task, "cycles"), 0).na();
    write_metrics(profile.metric_group(), counters, task, writer);
    writer.text(op == nullptr ? "" : op->impl)
        .text(op == nullptr ? "" : op->format)
        .text(op == nullptr ? "" : op->strategy)
        .text(op == nullptr ? "" : op->repo_key);
    write_analytic(task, writer);
    writer.end_row();
  }
}

std::vector<std::string> more_columns(const Database& profile) {
  std::vector<std::string> columns = metric_columns(profile.metric_group());
  for (const char* ours : {"Impl", "Format", "Strategy", "Repo Key"}) columns.emplace_back(ours);
  for (std::string& column : analytic_columns()) columns.push_back(std::move(column));
  return columns;
}

}  // namespace

void register_op_summary(SummaryRegistry& registry) {
  registry.add({.name = "op_summary",
                .columns = {"Device_id",
                            "Model Name",
                            "Model ID",
                            "Task ID",
                            "Stream ID",
                            "Infer ID",
                            "Op Name",
                            "OP Type",
                            "OP State",
                            "Task Type",
                            "Task Start Time(us)",
                            "Task Duration(us)",
                            "Task Wait Time(us)",
                            "Block Num",
                            "Mix Block Num",
                            "HF32 Eligible",
                            "Input Shapes",
                            "Input Data Types",
                            "Input Formats",
                            "Output Shapes",
                            "Output Data Types",
                            "Output Formats",
                            "Context ID",
                            "aicore_time(us)",
                            "total_cycles",
                            "aiv_time(us)"},
                .more_columns = more_columns,
                .write = write_op_summary});
}

}  // namespace aoe::profiler
