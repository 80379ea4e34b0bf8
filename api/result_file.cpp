// Reports as JSON.
#include "api/result_file.h"

#include <cmath>

#include "base/file.h"
#include "base/json_text.h"
#include "tuner/result/aoe_result.h"

namespace aoe::api {
using nlohmann::ordered_json;
namespace {

constexpr int kSchemaVersion =
    1;  // count up when a key changes its meaning or goes; new keys may come

ordered_json text_or_null(const std::string& text) {
  return text.empty() ? ordered_json(nullptr) : ordered_json(text);
}

template <typename T>
ordered_json limit_or_null(T limit) {
  return limit > 0 ? ordered_json(limit) : ordered_json(nullptr);
}

ordered_json pair_of(double low, double high) {
  return ordered_json::array({low, high});
}

ordered_json model_json(const tuner::TuneOutcome& outcome) {
  if (!outcome.model) return nullptr;
  const tuner::ModelVerdict& model = *outcome.model;
  const Interval before = model.before_interval_ms, after = model.after_interval_ms();
  return {{"verdict", name(model.paired.verdict)},
          {"improvement", model.improvement()},
          {"reason", text_or_null(model.reason())},
          {"pairs", model.pairs},
          {"before_ms", model.before_ms},
          {"before_interval_ms", pair_of(before.low, before.high)},
          {"after_ms", model.after_ms()},
          {"after_interval_ms", pair_of(after.low, after.high)},
          {"speedup", model.paired.speedup},
          {"speedup_interval", pair_of(model.paired.low, model.paired.high)}};
}

ordered_json op_json(const tuner::TaskGain& gain) {
  return {{"repo_key", gain.repo_key},
          {"op", gain.op_name},
          {"type", gain.op_type},
          {"shape", gain.shape},
          {"count", gain.count},
          {"strategy", gain.strategy},
          {"before_us", gain.before_ns / 1e3},
          {"after_us", gain.after_ns / 1e3},
          {"speedup", gain.paired.speedup},
          {"speedup_interval", pair_of(gain.paired.low, gain.paired.high)}};
}

ordered_json us_or_null(double time_ns) {
  return time_ns > 0 ? ordered_json(time_ns / 1e3) : ordered_json(nullptr);
}

ordered_json fate_json(const tuner::TaskFate& task) {
  return {{"repo_key", task.repo_key},
          {"op", task.op_name},
          {"type", task.op_type},
          {"shape", task.shape},
          {"count", task.count},
          {"fate", task.fate},
          {"in_model_us", us_or_null(task.model_ns)},
          {"default_us", us_or_null(task.default_ns)},
          {"best_us", us_or_null(task.best_ns)},
          {"trials", task.trials}};
}

ordered_json tasks_json(const tuner::TuneOutcome& outcome) {
  return {{"total", outcome.tasks},
          {"known", outcome.settled},
          {"won", outcome.gains.size()},
          {"not_searched", outcome.not_searched}};
}

ordered_json budget_json(const tuner::TuneOutcome& outcome, const Settings& settings) {
  const tuner::TuneOptions& tuning = settings.tuning;
  return {{"time_limit_s", limit_or_null(settings.time_limit_s.value_or(0))},
          {"search_limit_s", limit_or_null(tuning.policy.search.time_limit_s)},
          {"max_trials", limit_or_null(settings.max_trials)},
          {"ended_by", tuner::name(outcome.ended_by)},
          {"elapsed_s", outcome.used.elapsed_s},
          {"search_s", outcome.used.search_s},
          {"waited_s", outcome.used.waited_s},
          {"trials", outcome.trials}};
}

}  // namespace

ordered_json result_json(const RunReport& report, const Settings& settings) {
  const tuner::TuneOutcome& outcome = report.outcome;
  ordered_json ops = ordered_json::array();
  for (const tuner::TaskGain& gain : outcome.gains) ops.push_back(op_json(gain));
  ordered_json fates = ordered_json::array();
  for (const tuner::TaskFate& task : outcome.fates) fates.push_back(fate_json(task));
  ordered_json gears = ordered_json::array();
  for (const GearValues& gear : report.gears.values) gears.push_back(gear_text(gear));
  return {
      {"name", report.tuning_name},
      {"job_type", static_cast<int>(settings.job_type)},
      {"state", tuner::text(outcome.state)},
      {"soc_version", settings.tuning.soc.version},
      {"threads", settings.tuning.soc.threads},
      {"preset", settings.tuning.policy.preset},
      {"gears", std::move(gears)},
      {"om", text_or_null(report.om_path.string())},
      {"output", text_or_null(report.output_path.string())},
      {"bank", report.bank_directory.string()},
      {"aoe_result", report.result_path.string()},
      {"model", model_json(outcome)},
      {"error_against_fp32", outcome.error_against_fp32 ? ordered_json(*outcome.error_against_fp32)
                                                        : ordered_json(nullptr)},
      {"tasks", tasks_json(outcome)},
      {"ops", std::move(ops)},
      {"failed_ops", outcome.failed_ops},
      {"task_list", std::move(fates)},
      {"budget", budget_json(outcome, settings)}};
}

void write_result_file(const std::filesystem::path& path, const std::vector<ordered_json>& results,
                       const std::vector<ModelFailure>& failures) {
  ordered_json lost = ordered_json::array();
  for (const ModelFailure& failure : failures)
    lost.push_back({{"name", failure.name},
                    {"exit_code", static_cast<int>(failure.code)},
                    {"error", failure.text}});
  const ordered_json document = {{"schema", "aoe.result"},
                                 {"version", kSchemaVersion},
                                 {"results", results},
                                 {"failures", std::move(lost)}};
  write_file_atomically(path, json_text(document, 2, BadUtf8::kReplaced) + "\n");
}

}  // namespace aoe::api
