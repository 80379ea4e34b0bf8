// Executions that spend much of their time between ops: launching, or waiting for other programs.
#include "profiler/advice/advice.h"

namespace aoe::profiler {
namespace {

constexpr double kMostOutsideOps = 0.15;

std::optional<Diagnosis> check_time_not_in_ops(const AdviceInput& input) {
  Statement row = input.profile.connection().prepare(
      "SELECT e.modelId, sum(e.endNs - e.startNs), count(*), "
      "(SELECT sum(t.endNs - t.startNs) FROM TASK t WHERE t.modelId = e.modelId) "
      "FROM MODEL_EXECUTION e GROUP BY e.modelId ORDER BY 2 DESC");
  Evidence evidence{.columns = {"Model Name", "Runs", "Execution(us)", "In Ops(us)", "Not In Ops"}};
  std::string description;
  while (row.step()) {
    const std::int64_t execution_ns = row.integer(1);
    if (row.is_null(3) || execution_ns <= 0) continue;  // tasks were not collected
    const double share =
        1 - static_cast<double>(row.integer(3)) / static_cast<double>(execution_ns);
    if (share <= kMostOutsideOps) continue;
    const ModelRow* model = input.profile.model(row.integer(0));
    const std::string name = model == nullptr ? "N/A" : model->name;
    if (description.empty())
      description = percent(share) + " of the time of model " + name + " is spent outside its ops.";
    evidence.rows.push_back({name, std::to_string(row.integer(2)), microseconds(execution_ns),
                             microseconds(row.integer(3)), percent(share)});
  }
  if (evidence.rows.empty()) return std::nullopt;
  return Diagnosis{description,
                   "Look at the gaps between ops in the timeline. Many ops of a few microseconds: "
                   "run larger batches. Long gaps: other programs take the cores, so give this one "
                   "its own (taskset), or fewer threads.",
                   std::move(evidence)};
}

}  // namespace

void register_time_not_in_ops(RuleRegistry& registry) {
  registry.add({.name = "time_not_in_ops",
                .type = "Model Bottleneck Analysis",
                .subtype = "Time Not In Ops",
                .view = AdviceView::kModelSummary,
                .check = check_time_not_in_ops});
}

}  // namespace aoe::profiler
