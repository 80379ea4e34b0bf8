// Draws the progress line.
#include "tools/aoe/progress.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>

namespace aoe::tools {
namespace {

constexpr int kBarCells = 20;

std::size_t terminal_columns() {
  winsize size{};
  if (::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
  return 80;
}

std::string bar(const Progress& p) {
  const double part = p.tasks_total > 0 ? static_cast<double>(p.tasks_done) / p.tasks_total : 0;
  const int filled = std::clamp(static_cast<int>(part * kBarCells), 0, kBarCells);
  std::string cells(static_cast<std::size_t>(filled), '=');
  if (filled < kBarCells) cells += '>';
  cells.resize(kBarCells, ' ');
  return "[" + cells + "]";
}

std::string times(const Progress& p) {
  std::string text = duration_text(p.elapsed_s) + " elapsed";
  if (p.remaining_s > 0) text += ", " + duration_text(p.remaining_s) + " left";
  return text;
}

std::string best_so_far(const Progress& p) {
  if (p.default_ns <= 0) return "";
  return fmt::format("best {:.1f} us, default {:.1f} us", p.best_ns / 1e3, p.default_ns / 1e3);
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

}  // namespace

Progress::Progress(const AoeProgress& progress)
    : stage(progress.stage),
      tasks_done(progress.tasks_done),
      tasks_total(progress.tasks_total),
      tuning_name(progress.tuning_name),
      op_name(progress.op_name),
      op_type(progress.op_type),
      shape(progress.shape),
      default_ns(progress.default_ns),
      best_ns(progress.best_ns),
      elapsed_s(progress.elapsed_s),
      remaining_s(progress.remaining_s) {
}

std::string duration_text(double seconds) {
  const long total = std::lround(std::max(0.0, seconds));
  const long hours = total / 3600;
  const long minutes = total / 60 % 60;
  if (hours > 0) return fmt::format("{}:{:02}:{:02}", hours, minutes, total % 60);
  return fmt::format("{}:{:02}", minutes, total % 60);
}

std::string progress_line(const Progress& p, std::size_t columns) {
  std::string line;
  switch (p.stage) {
    case AOE_STAGE_BASELINE:
      line = joined({"measuring the untuned model", times(p)}, "  ");
      break;
    case AOE_STAGE_CONFIRM:
      line = joined({"confirming in the model", times(p)}, "  ");
      break;
    case AOE_STAGE_SEARCH:
      // Figures first: what is cut off on a narrow terminal is the name of the op.
      line = joined({fmt::format("{} {}/{}", bar(p), p.tasks_done, p.tasks_total), times(p),
                     best_so_far(p), op_text(p)},
                    "  ");
  }
  if (line.size() > columns) line.resize(columns);
  return line;
}

ProgressDisplay::ProgressDisplay()
    : is_terminal_(::isatty(STDERR_FILENO) == 1),
      has_color_(is_terminal_ && std::getenv("NO_COLOR") == nullptr) {
}

ProgressDisplay::~ProgressDisplay() {
  if (has_open_line_) std::fputs("\r\033[K", stderr);
}

void ProgressDisplay::show(const Progress& progress) {
  if (!is_terminal_) {
    show_plain(progress);
    return;
  }
  const std::string line = progress_line(progress, terminal_columns() - 1);
  const char* begin = has_color_ ? "\033[36m" : "";
  const char* end = has_color_ ? "\033[0m" : "";
  std::fputs(fmt::format("\r\033[K{}{}{}", begin, line, end).c_str(), stderr);
  std::fflush(stderr);
  has_open_line_ = true;
}

void ProgressDisplay::show_plain(const Progress& progress) {
  if (!last_.tuning_name.empty() && progress.tuning_name != last_.tuning_name) {
    std::fputs(("model " + progress.tuning_name + "\n").c_str(), stderr);
    last_task_done_ = 0;
    last_ = {};
  }
  // The counter moves in the report that comes after the task's last figures.
  if (progress.tasks_done > last_task_done_) {
    last_task_done_ = progress.tasks_done;
    const std::string result = best_so_far(last_).empty() ? "nothing measured" : best_so_far(last_);
    std::fputs(fmt::format("task {}/{}: {}: {} ({})\n", progress.tasks_done, progress.tasks_total,
                           op_text(last_), result, times(progress))
                   .c_str(),
               stderr);
  } else if (progress.stage != last_.stage || last_.elapsed_s == 0) {
    if (progress.stage == AOE_STAGE_BASELINE || progress.stage == AOE_STAGE_CONFIRM)
      std::fputs((progress_line(progress, 1000) + "\n").c_str(), stderr);
  }
  last_ = progress;
}

}  // namespace aoe::tools
