// Cores that the model leaves idle: it was compiled for fewer threads than there are, or the process
// was seen using less of them than it has.
#include "profiler/advice/advice.h"
#include "profiler/export/text_file.h"

namespace aoe::profiler {
namespace {

constexpr double kLeastBusy = 0.6;  // of the threads, while executions run
constexpr const char* kProcessCpuSeries = "process cpu (%)";  // 100 is one core

/// Mean of the samples between the first and the last execution; absent without samples.
std::optional<double> cores_busy(const Database& profile) {
  Statement row = profile.connection().prepare(
      "SELECT avg(s.value), count(*) FROM SAMPLE s JOIN STRING_IDS n ON n.id = s.series "
      "WHERE n.value = ? AND s.timestampNs BETWEEN (SELECT min(startNs) FROM MODEL_EXECUTION) "
      "AND (SELECT max(endNs) FROM MODEL_EXECUTION)");
  row.bind(1, std::string_view(kProcessCpuSeries));
  if (!row.step() || row.integer(1) == 0) return std::nullopt;
  return row.real(0) / 100;
}

std::string with_one_decimal(double value) {
  std::string text;
  append_real(text, value, 1);
  return text;
}

std::optional<Diagnosis> check_idle_threads(const AdviceInput& input) {
  const std::int64_t cores = std::stoll(input.profile.meta("CORES").value_or("0"));
  const std::optional<double> busy = cores_busy(input.profile);
  Evidence evidence{.columns = {"Model Name", "Threads", "Cores", "Cores Busy"}};
  std::string description;
  for (const ModelRow& model : input.profile.models()) {
    if (!model.threads) continue;
    const bool has_few = *model.threads < cores;
    const bool is_idle = busy && *busy < kLeastBusy * static_cast<double>(*model.threads);
    if (!has_few && !is_idle) continue;
    if (description.empty())
      description = has_few ? "Model " + model.name + " uses " + std::to_string(*model.threads) +
                                  " of " + std::to_string(cores) + " cores."
                            : "The threads of model " + model.name + " are busy " +
                                  percent(*busy / static_cast<double>(*model.threads)) +
                                  " of the time.";
    evidence.rows.push_back({model.name, std::to_string(*model.threads),
                             cores > 0 ? std::to_string(cores) : "N/A",
                             busy ? with_one_decimal(*busy) : "N/A"});
  }
  if (evidence.rows.empty()) return std::nullopt;
  return Diagnosis{description,
                   "Compile for all cores (atc --threads=N, tuned with aoe --threads=N), or run as "
                   "many executions side by side as there are idle cores.",
                   std::move(evidence)};
}

}  // namespace

void register_idle_threads(RuleRegistry& registry) {
  registry.add({.name = "idle_threads",
                .type = "Operator Parallelism",
                .subtype = "Idle Threads",
                .view = AdviceView::kOpParallel,
                .check = check_idle_threads});
}

}  // namespace aoe::profiler
