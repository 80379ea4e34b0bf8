// Fills in the structs.
#include "api/result_view.h"

#include "tuner/result/aoe_result.h"

namespace aoe::api {
namespace {

int32_t state_of(tuner::TuningState state) {
  switch (state) {
    case tuner::TuningState::kSuccessful:
      return AOE_TUNING_SUCCESSFUL;
    case tuner::TuningState::kFailed:
      return AOE_TUNING_FAILED;
    case tuner::TuningState::kIncomplete:
      break;
  }
  return AOE_TUNING_INCOMPLETE;
}

}  // namespace

ResultView::ResultView(const RunReport& report)
    : report_(report),
      gears_(report.gears.empty() ? "" : to_string(report.gears)),
      result_path_(report.result_path.string()),
      bank_path_(report.bank_directory.string()),
      om_path_(report.om_path.string()),
      output_path_(report.output_path.string()) {
  const tuner::TuneOutcome& outcome = report_.outcome;
  if (outcome.result_ms > 0)
    improvement_ = tuner::improvement_percent(outcome.baseline_ms, outcome.result_ms);
  if (outcome.verdict) verdict_ = tuner::name(*outcome.verdict);
  for (const tuner::TaskGain& gain : outcome.gains)
    gain_improvements_.push_back(tuner::improvement_percent(gain.before_ns, gain.after_ns));
  for (std::size_t i = 0; i < outcome.gains.size(); ++i) {
    const tuner::TaskGain& gain = outcome.gains[i];
    gains_.push_back({.op_name = gain.op_name.c_str(),
                      .op_type = gain.op_type.c_str(),
                      .strategy = gain.strategy.c_str(),
                      .count = gain.count,
                      .before_ns = gain.before_ns,
                      .after_ns = gain.after_ns,
                      .improvement = gain_improvements_[i].c_str()});
  }
  for (const std::string& op : outcome.failed_ops) failed_ops_.push_back(op.c_str());
  result_ = {.state = state_of(outcome.state),
             .tuning_name = report_.tuning_name.c_str(),
             .verdict = verdict_.c_str(),
             .baseline_ms = outcome.baseline_ms,
             .result_ms = outcome.result_ms,
             .improvement = improvement_.c_str(),
             .error_of_range = outcome.error_against_fp32.value_or(-1),
             .tasks = outcome.tasks,
             .known_tasks = outcome.settled,
             .trials = outcome.trials,
             .gains = gains_.data(),
             .gain_count = gains_.size(),
             .failed_ops = failed_ops_.data(),
             .failed_op_count = failed_ops_.size(),
             .gears = gears_.c_str(),
             .result_path = result_path_.c_str(),
             .bank_path = bank_path_.c_str(),
             .model_path = om_path_.c_str(),
             .output_path = output_path_.c_str()};
}

}  // namespace aoe::api
