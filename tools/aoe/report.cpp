// The final report.
#include "tools/aoe/report.h"

#include <fmt/format.h>

#include <algorithm>

namespace aoe::tools {
using tuner::TaskGain;
using tuner::TuneOutcome;
using tuner::TuningState;
namespace {

constexpr std::size_t kMostTableRows = 10;

/// Names of real models are long; their ends tell more than their beginnings.
std::string shortened(const std::string& text, std::size_t width) {
  return text.size() <= width ? text : ".." + text.substr(text.size() - width + 2);
}

void print_table(std::ostream& out, const std::vector<TaskGain>& gains) {
  constexpr const char* kRow = "{:<32} {:<20} {:>5} {:>11} {:>11} {:>9}  {}\n";
  out << fmt::format(kRow, "op", "type", "ops", "before(us)", "after(us)", "gain", "strategy");
  for (const TaskGain& gain : std::span(gains).first(std::min(gains.size(), kMostTableRows)))
    out << fmt::format(kRow, shortened(gain.op_name, 32), shortened(gain.op_type, 20), gain.count,
                       fmt::format("{:.1f}", gain.before_ns / 1e3),
                       fmt::format("{:.1f}", gain.after_ns / 1e3),
                       tuner::improvement_percent(gain.before_ns, gain.after_ns), gain.strategy);
  if (gains.size() > kMostTableRows)
    out << fmt::format("... and {} more\n", gains.size() - kMostTableRows);
}

void print_finish_line(std::ostream& out, const Settings& settings, const TuneOutcome& outcome) {
  const bool is_faster = outcome.verdict == "faster" && outcome.result_ms < outcome.baseline_ms;
  if (outcome.state == TuningState::kIncomplete)
    out << "Aoe process stopped before the end; what was won is in the bank, unconfirmed\n";
  else if (is_faster)
    out << fmt::format("{} process finished. Performance improved by {}\n",
                       settings.tuning.tuning_name,
                       tuner::improvement_percent(outcome.baseline_ms, outcome.result_ms));
  else
    out << "Aoe process finished\n";
}

}  // namespace

void print_report(std::ostream& out, const Settings& settings, const TuneOutcome& outcome,
                  const std::filesystem::path& bank_directory) {
  if (!outcome.gains.empty()) print_table(out, outcome.gains);
  const Gears& gears = settings.tuning.gears;
  if (outcome.result_ms > 0)
    out << fmt::format(
        "model: {:.3f} ms before, {:.3f} ms after ({}); {} tasks, {} known to the bank, {} "
        "trials\n",
        outcome.baseline_ms, outcome.result_ms, outcome.verdict, outcome.tasks, outcome.settled,
        outcome.trials);
  if (outcome.result_ms > 0 && !gears.empty())
    out << fmt::format("gears: {}; the model's time is that of one inference of each\n",
                       to_string(gears));
  if (outcome.error_against_fp32)
    out << fmt::format(
        "precision: the tuned model is off from the same in float32 by {:.1e} of its range\n",
        *outcome.error_against_fp32);
  if (!outcome.failed_ops.empty())
    out << fmt::format("tuning failed for {} ops, see tuning_failed_operators in the result\n",
                       outcome.failed_ops.size());
  out << "result: " << settings.tuning.result_path.string() << "\n";
  out << "bank:   " << bank_directory.string() << "\n";
  if (outcome.om_written) out << "model:  " << settings.tuning.tuned_om_path.string() << "\n";
  if (outcome.om_written && !settings.output.empty())
    out << "model:  " << settings.output.string() << "\n";
  print_finish_line(out, settings, outcome);
}

}  // namespace aoe::tools
