// Lines from reports.
#include "tools/aoe/progress_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <initializer_list>

#include "base/utf8.h"
#include "tools/common/figure_text.h"

namespace aoe::tools {
namespace {

constexpr int kBarCells = 20;
/// An estimate that wavers by less goes on counting down.
constexpr double kLeastRaiseSeconds = 2;
/// So long the line says that it went up.
constexpr double kSayRaiseSeconds = 5;

std::string bar(const Progress& p) {
  const double part = p.tasks_total > 0 ? static_cast<double>(p.tasks_done) / p.tasks_total : 0;
  const int filled = std::clamp(static_cast<int>(part * kBarCells), 0, kBarCells);
  std::string cells(static_cast<std::size_t>(filled), '=');
  if (filled < kBarCells) cells += '>';
  cells.resize(kBarCells, ' ');
  return "[" + cells + "]";
}

std::string best_so_far(const Progress& p) {
  if (p.default_ns <= 0) return "";
  constexpr int kDecimals = 1;
  return fmt::format("best {} us, default {} us", figure_text(p.best_ns / 1e3, kDecimals),
                     figure_text(p.default_ns / 1e3, kDecimals));
}

std::string joined(std::initializer_list<std::string> parts, const char* separator) {
  std::string text;
  for (const std::string& part : parts)
    if (!part.empty()) text += (text.empty() ? "" : separator) + part;
  return text;
}

std::string op_text(const Progress& p) {
  return joined({p.op_type, p.op_name, p.shape}, " ");
}

/// " (2 of 5)"; empty of a run of one model.
std::string place_text(const Progress& p) {
  return p.model_count > 1 ? fmt::format(" ({} of {})", p.model_index, p.model_count) : "";
}

std::string model_text(const Progress& p) {
  return p.model_count > 1 ? p.tuning_name + place_text(p) : "";
}

std::string stage_text(const Progress& p) {
  if (!p.waiting.empty()) return "waiting: " + p.waiting;
  if (p.stage == AOE_STAGE_BASELINE) return "measuring the untuned model";
  if (p.stage == AOE_STAGE_CONFIRM) return "confirming in the model";
  return "";
}

}  // namespace

Progress::Progress(const AoeProgress& progress)
    : stage(progress.stage),
      tasks_done(progress.tasks_done),
      tasks_total(progress.tasks_total),
      known_tasks(progress.known_tasks),
      not_searched(progress.not_searched),
      model_index(progress.model_index),
      model_count(progress.model_count),
      tuning_name(printable(progress.tuning_name)),
      op_name(printable(progress.op_name)),
      op_type(printable(progress.op_type)),
      shape(progress.shape),
      waiting(progress.waiting),
      default_ns(progress.default_ns),
      best_ns(progress.best_ns),
      elapsed_s(progress.elapsed_s),
      remaining_s(progress.remaining_s),
      limit_left_s(progress.limit_left_s) {
}

std::string duration_text(double seconds) {
  const long total = std::lround(std::max(0.0, seconds));
  const long hours = total / 3600;
  const long minutes = total / 60 % 60;
  if (hours > 0) return fmt::format("{}:{:02}:{:02}", hours, minutes, total % 60);
  return fmt::format("{}:{:02}", minutes, total % 60);
}

double TimeLeft::left_at(double elapsed_s) const {
  return std::max(0.0, left_s_ - (elapsed_s - at_s_));
}

void TimeLeft::estimate(double left_s, double elapsed_s) {
  const double shown_s = left_at(elapsed_s);
  const bool has_estimate = left_s_ > 0;
  if (left_s > shown_s && left_s < shown_s + kLeastRaiseSeconds && has_estimate) return;
  if (left_s > shown_s && has_estimate) {
    raised_by_s_ = left_s - shown_s;
    raised_at_s_ = elapsed_s;
  }
  left_s_ = left_s;
  at_s_ = elapsed_s;
}

std::string TimeLeft::text(double elapsed_s) const {
  if (left_s_ <= 0) return "";
  std::string text = duration_text(left_at(elapsed_s)) + " left";
  if (raised_by_s_ > 0 && elapsed_s < raised_at_s_ + kSayRaiseSeconds)
    text += ", " + duration_text(raised_by_s_) + " more than thought";
  return text;
}

std::string ModelProgressText::times(double later_s) const {
  const double elapsed_s = last_.elapsed_s + later_s;
  const std::string limit =
      last_.limit_left_s < 0 ? "" : "limit in " + duration_text(last_.limit_left_s - later_s);
  const bool is_search = last_.stage == AOE_STAGE_SEARCH;
  return joined(
      {duration_text(elapsed_s) + " elapsed", is_search ? left_.text(elapsed_s) : "", limit}, ", ");
}

std::string ModelProgressText::line(double later_s, std::size_t columns) const {
  std::string line = joined({stage_text(last_), times(later_s)}, "  ");
  if (last_.stage == AOE_STAGE_DONE)
    line.clear();
  else if (
      last_.stage ==
      AOE_STAGE_SEARCH)  // figures first: what is cut off on a narrow terminal is the name of the op
    line = joined(
        {fmt::format("{} {}/{}", bar(last_), last_.tasks_done, last_.tasks_total), times(later_s),
         stage_text(last_), best_so_far(last_), model_text(last_), op_text(last_)},
        "  ");
  line = utf8_head(line, columns);
  return line;
}

/// The counter moves in the report that comes after the task's last figures; of what the bank knows there are none.
std::string ModelProgressText::log_of_search(const Progress& progress) const {
  if (progress.tasks_done <= last_.tasks_done || best_so_far(last_).empty()) return "";
  return fmt::format("task {}/{}: {}: {}", progress.tasks_done, progress.tasks_total,
                     op_text(last_), best_so_far(last_));
}

std::string ModelProgressText::report(const Progress& progress) {
  std::string log;
  const bool is_new_stage = is_first_ || progress.stage != last_.stage;
  const std::string task = log_of_search(progress);
  const bool ends_search = progress.not_searched > last_.not_searched;
  const std::string waiting = progress.waiting == last_.waiting ? "" : progress.waiting;
  last_ = progress;
  is_first_ = false;
  left_.estimate(progress.remaining_s, progress.elapsed_s);
  const auto say = [&](const std::string& text) { log += text + " (" + times(0) + ")\n"; };
  if (!task.empty()) say(task);
  if (ends_search)
    say(fmt::format("the search has ended: {} of {} tasks were not searched to the end",
                    progress.not_searched, progress.tasks_total));
  if (!waiting.empty() || (is_new_stage && !stage_text(progress).empty()))
    say(stage_text(progress));
  return log;
}

std::string ProgressText::report(const Progress& progress) {
  const std::string& name = progress.tuning_name;
  has_several_ |= progress.model_count > 1 || (!last_model_.empty() && last_model_ != name);
  last_model_ = name;
  std::string log = models_[name].report(progress);
  if (progress.stage == AOE_STAGE_DONE) models_.erase(name);
  if (log.empty() || said_model_ == name) return log;
  said_model_ = name;
  return (has_several_ ? "model " + name + place_text(progress) + "\n" : "") + log;
}

std::string ProgressText::line(double later_s, std::size_t columns) const {
  const auto model = models_.find(last_model_);
  return model == models_.end() ? "" : model->second.line(later_s, columns);
}

}  // namespace aoe::tools
