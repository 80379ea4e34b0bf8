// The final report.
#include "tools/aoe/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <string>
#include <string_view>

#include "tools/common/figure_text.h"
#include "tools/common/terminal_table.h"

namespace aoe::tools {
namespace {

constexpr std::size_t kMostTableRows = 10;
constexpr int kMsDecimals = 3, kUsDecimals = 1;

std::string ms_text(double ms) {
  return figure_text(ms, kMsDecimals);
}

void print_table(std::ostream& out, std::span<const AoeGain> gains) {
  TerminalTable table("", {{"op"},
                           {"type"},
                           {"ops", Align::kRight},
                           {"before(us)", Align::kRight},
                           {"after(us)", Align::kRight},
                           {"gain", Align::kRight},
                           {"strategy"}});
  for (const AoeGain& gain : gains.first(std::min(gains.size(), kMostTableRows)))
    table.row({gain.op_name, gain.op_type, std::to_string(gain.count),
               figure_text(gain.before_ns / 1e3, kUsDecimals),
               figure_text(gain.after_ns / 1e3, kUsDecimals), gain.improvement, gain.strategy});
  table.print(out);
  if (gains.size() > kMostTableRows)
    out << fmt::format("... and {} more\n", gains.size() - kMostTableRows);
}

std::string_view limit_in_words(std::string_view ended_by) {
  if (ended_by == "time_limit") return "time limit";
  if (ended_by == "search_limit") return "limit of the search";
  if (ended_by == "trials") return "limit of trials";
  return "end of the run";
}

bool was_measured(const AoeTuningResult& result) {
  return result.result_ms > 0;
}

void print_model(std::ostream& out, const AoeTuningResult& result) {
  const std::string_view measured = result.measured_utc;
  out << fmt::format("model: {} ms before ({} to {}), {} ms after ({} to {}); {} pairs of runs{}\n",
                     ms_text(result.baseline_ms), ms_text(result.baseline_low_ms),
                     ms_text(result.baseline_high_ms), ms_text(result.result_ms),
                     ms_text(result.result_low_ms), ms_text(result.result_high_ms), result.pairs,
                     measured.empty() ? ""
                                      : fmt::format(", of an earlier run ({}): nothing has changed "
                                                    "since; REPEAT_TUNE=True tunes again",
                                                    measured));
  const bool is_claimed = *result.improvement_reason == '\0';
  out << fmt::format("verdict: {}, {} ({})\n", result.verdict, result.improvement,
                     is_claimed ? result.improvement_interval : result.improvement_reason);
}

void print_tasks(std::ostream& out, const AoeTuningResult& result) {
  out << fmt::format("{} tasks, {} known to the bank, {} trials\n", result.tasks,
                     result.known_tasks, result.trials);
  if (result.not_searched > 0)
    out << fmt::format(
        "{} of {} tasks were not searched to the end, because of the {}; --reload goes on\n",
        result.not_searched, result.tasks, limit_in_words(result.ended_by));
}

void print_finish_line(std::ostream& out, const AoeTuningResult& result) {
  const bool is_faster = std::string_view(result.verdict) == "faster";
  if (result.state == AOE_TUNING_INCOMPLETE && !was_measured(result))
    out << "Aoe process stopped before the end; "
        << (result.trials > 0 ? "what was won is in the bank, unconfirmed\n"
                              : "nothing was measured\n");
  else if (is_faster)
    out << fmt::format("{} process finished. Performance improved by {}\n", result.tuning_name,
                       result.improvement);
  else
    out << "Aoe process finished\n";
}

}  // namespace

void print_summary(std::ostream& out, std::span<const AoeTuningResult* const> results) {
  TerminalTable table("", {{"model"},
                           {"before(ms)", Align::kRight},
                           {"after(ms)", Align::kRight},
                           {"gain", Align::kRight},
                           {"tasks", Align::kRight},
                           {"known", Align::kRight},
                           {"trials", Align::kRight},
                           {"result"}});
  for (const AoeTuningResult* result : results) {
    const bool has_times = was_measured(*result);
    table.row({result->tuning_name, has_times ? ms_text(result->baseline_ms) : "-",
               has_times ? ms_text(result->result_ms) : "-", has_times ? result->improvement : "-",
               std::to_string(result->tasks), std::to_string(result->known_tasks),
               std::to_string(result->trials), result->result_path});
  }
  out << "\n";
  table.print(out);
}

void print_report(std::ostream& out, const AoeTuningResult& result) {
  if (result.gain_count > 0) print_table(out, {result.gains, result.gain_count});
  if (was_measured(result)) print_model(out, result);
  print_tasks(out, result);
  if (was_measured(result) && *result.gears != '\0')
    out << fmt::format("gears: {}; the model's time is that of one inference of each\n",
                       result.gears);
  if (result.error_of_range >= 0)
    out << fmt::format(
        "precision: the tuned model is off from the same in float32 by {:.1e} of its range\n",
        result.error_of_range);
  if (result.failed_op_count > 0)
    out << fmt::format("tuning failed for {} ops, see tuning_failed_operators in the result\n",
                       result.failed_op_count);
  out << "result: " << result.result_path << "\n";
  out << "bank:   " << result.bank_path << "\n";
  if (*result.model_path != '\0') out << "model:  " << result.model_path << "\n";
  if (*result.output_path != '\0') out << "output: " << result.output_path << "\n";
  print_finish_line(out, result);
}

}  // namespace aoe::tools
