// op_summary of the SS928 generation: one row per layer, averaged over the runs, and their total.
#include "profiler/export/job_names.h"
#include "profiler/export/metrics.h"
#include "profiler/export/op_times.h"
#include "profiler/export/summary.h"

namespace aoe::profiler {
namespace {

/// What the row of a layer, or of all of them, says.
struct Layer {
  std::string id, original, name, type;
  std::int64_t total_ns = 0;
  std::int64_t runs = 0;
  TaskFigures figures;
};

void write_layer(const Layer& layer, std::int64_t model_ns, TableWriter& writer) {
  constexpr int kRatios = 8;  // Mac Busy to WLD: the units of an NPU
  writer.text(layer.id).text(layer.original).text(layer.name).text(layer.type);
  writer.real(static_cast<double>(layer.total_ns) / 1e3 / static_cast<double>(layer.runs));
  writer.real(static_cast<double>(layer.total_ns) / static_cast<double>(model_ns), 6);
  for (int i = 0; i < kRatios; ++i) writer.na();
  writer.real(job_memory_bound({}, {}, {}, {}, {}));
  for (int i = 0; i < 3; ++i) writer.na();  // bytes of main memory: no counter of writes
  write_analytic(layer.figures, writer);
  writer.end_row();
}

void write_job_op_summary(const SummaryRequest& request, TableWriter& writer) {
  std::vector<OpTimes> ops = op_times(request.profile, request.selection);
  std::erase_if(ops, [&](const OpTimes& op) { return op.model_id != request.model->id; });
  const std::int64_t model_ns = total_ns(ops);
  Layer total{.id = "-", .original = "-", .name = "-", .type = "-", .total_ns = model_ns};
  for (const OpTimes& op : ops) {
    const std::int64_t mean_ns = op.stats.total_ns / op.stats.count;
    Layer layer{.id = std::to_string(op.task_id),
                .original = op.op == nullptr ? "" : op.op->original_ops,
                .name = op.op == nullptr ? "" : job_layer_name(*op.op),
                .type = op.op == nullptr ? "" : op.op->type,
                .total_ns = op.stats.total_ns,
                .runs = op.stats.count,
                .figures = figures_of(request.profile, request.model, op.op, mean_ns)};
    write_layer(layer, model_ns, writer);
    total.runs = std::max(total.runs, layer.runs);
    if (layer.figures.flops)
      total.figures.flops = total.figures.flops.value_or(0) + *layer.figures.flops;
    if (layer.figures.bytes)
      total.figures.bytes = total.figures.bytes.value_or(0) + *layer.figures.bytes;
  }
  if (ops.empty()) return;
  total.figures.duration_ns = model_ns / total.runs;
  total.figures.peak_gflops = request.model->peak_gflops;
  total.figures.memory_gb_s = request.model->memory_gb_s;
  write_layer(total, model_ns, writer);
}

/// Misses per instruction over all tasks of the model, as a file name has it ("0.0012"); "NA" where
/// these were not counted.
std::string icache_miss_rate_of(const Database& profile, const ModelRow& model) {
  const CounterNames names(profile);
  const auto sum = [&](const char* counter) -> std::optional<std::int64_t> {
    const auto slot = names.slot(counter);
    if (!slot) return std::nullopt;
    Statement row = profile.connection().prepare("SELECT sum(value" + std::to_string(*slot) +
                                                 ") FROM TASK_COUNTERS WHERE modelId = ?");
    row.bind(1, model.id);
    if (!row.step() || row.is_null(0)) return std::nullopt;
    return row.integer(0);
  };
  const auto misses = sum("l1i_misses"), instructions = sum("instructions");
  if (!misses || !instructions || *instructions <= 0) return "NA";
  std::string rate;
  append_real(rate, static_cast<double>(*misses) / static_cast<double>(*instructions), 6);
  return rate;
}

std::vector<SummaryPart> parts(const Database& profile, const ExportSelection& selection) {
  std::vector<SummaryPart> parts;
  for (const ModelRow& model : profile.models()) {
    if (selection.iteration && selection.iteration->model_id != model.id) continue;
    const std::string pictures = picture_count(profile, model, selection);
    const auto mhz = profile.frequency_mhz();
    const std::string frequency = mhz ? std::to_string(static_cast<std::int64_t>(*mhz)) : "NA";
    // ...input_pic_num, current_pic_count, icache_miss_rate, frequency
    parts.push_back({job_timeline_stem("op_summary", model, selection) + "." +
                         input_picture_count(profile, model) + "." + pictures + "." +
                         icache_miss_rate_of(profile, model) + "." + frequency,
                     &model});
  }
  return parts;
}

}  // namespace

void register_job_op_summary(SummaryRegistry& registry) {
  registry.add(
      {.name = "op_summary",
       .generation = Generation::kJob,
       .columns = {"Layer Id", "Ori Layer Name", "Layer Name", "Layer Type", "Time(us)",
                   "Time Ratio", "Mac Busy Ratio", "Mac Ppen Ratio", "Vec Busy Ratio",
                   "Vec Ppen Ratio", "Dstr Ratio", "Dtrans Ratio", "DLD Ratio", "WLD Ratio",
                   "Memory Bound", "DDR Read(byte)", "DDR Write(byte)", "DDR Total(byte)"},
       .more_columns = [](const Database&) { return analytic_columns(); },
       .write = write_job_op_summary,
       .parts = parts});
}

}  // namespace aoe::profiler
