// Executions that spend much of their time between ops: launching, or waiting for other programs.
#include <algorithm>
#include <functional>

#include "base/statistics.h"
#include "profiler/advice/advice.h"

namespace aoe::profiler {
namespace {

constexpr double kMostOutsideOps = 0.15;

/// Executions of a model by the median, as times of ops are: the first one finds its memory and takes long.
struct ModelTimes {
  std::int64_t model_id = 0;
  std::vector<double> execution_ns, in_ops_ns;

  std::int64_t typical_ns(const std::vector<double>& values) const {
    return static_cast<std::int64_t>(median(values) * static_cast<double>(values.size()));
  }
  std::int64_t typical_execution_ns() const { return typical_ns(execution_ns); }
  std::int64_t typical_in_ops_ns() const { return typical_ns(in_ops_ns); }
};

/// Those whose tasks were collected, the longest first.
std::vector<ModelTimes> times_of_models(const AdviceInput& input) {
  Statement row = input.profile.connection().prepare(
      "SELECT e.modelId, e.endNs - e.startNs, t.ns FROM MODEL_EXECUTION e JOIN "
      "(SELECT modelId, run, sum(endNs - startNs) AS ns FROM TASK GROUP BY modelId, run) t "
      "ON t.modelId = e.modelId AND t.run = e.run ORDER BY e.modelId");
  std::vector<ModelTimes> models;
  while (row.step()) {
    if (models.empty() || models.back().model_id != row.integer(0))
      models.push_back({.model_id = row.integer(0)});
    models.back().execution_ns.push_back(static_cast<double>(row.integer(1)));
    models.back().in_ops_ns.push_back(static_cast<double>(row.integer(2)));
  }
  std::ranges::stable_sort(models, std::greater(), &ModelTimes::typical_execution_ns);
  return models;
}

std::optional<Diagnosis> check_time_not_in_ops(const AdviceInput& input) {
  Evidence evidence{.columns = {"Model Name", "Runs", "Execution(us)", "In Ops(us)", "Not In Ops"}};
  std::string description;
  for (const ModelTimes& times : times_of_models(input)) {
    const std::int64_t execution_ns = times.typical_execution_ns();
    if (execution_ns <= 0) continue;
    const std::int64_t in_ops_ns = times.typical_in_ops_ns();
    const double share = 1 - static_cast<double>(in_ops_ns) / static_cast<double>(execution_ns);
    if (share <= kMostOutsideOps) continue;
    const ModelRow* model = input.profile.model(times.model_id);
    const std::string name = model == nullptr ? "N/A" : model->name;
    if (description.empty())
      description = percent(share) + " of the time of model " + name + " is spent outside its ops.";
    evidence.rows.push_back({name, std::to_string(times.execution_ns.size()),
                             microseconds(execution_ns), microseconds(in_ops_ns), percent(share)});
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
