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
  if (outcome.model) {
    improvement_ = outcome.model->improvement();
    improvement_interval_ = outcome.model->improvement_interval();
    improvement_reason_ = outcome.model->reason();
    verdict_ = name(outcome.model->paired.verdict);
  }
  ended_by_ = tuner::name(outcome.ended_by);
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
             .output_path = output_path_.c_str(),
             .ended_by = ended_by_.c_str(),
             .not_searched = outcome.not_searched,
             .improvement_interval = improvement_interval_.c_str(),
             .improvement_reason = improvement_reason_.c_str(),
             .measured_utc = ""};
  if (!outcome.model) return;
  const tuner::ModelVerdict& model = *outcome.model;
  result_.baseline_ms = model.before_ms;
  result_.baseline_low_ms = model.before_interval_ms.low;
  result_.baseline_high_ms = model.before_interval_ms.high;
  result_.result_ms = model.after_ms();
  result_.result_low_ms = model.after_interval_ms().low;
  result_.result_high_ms = model.after_interval_ms().high;
  result_.pairs = model.pairs;
  result_.measured_utc = model.measured_utc.c_str();
}

}  // namespace aoe::api
