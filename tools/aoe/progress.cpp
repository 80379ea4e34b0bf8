// Draws the progress line.
#include "tools/aoe/progress.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdio>

#include "base/terminal_line.h"
#include "tools/common/terminal_table.h"

namespace aoe::tools {
namespace {

constexpr std::chrono::seconds kTick(1);
/// A log that is silent for so long looks like a run that hangs.
constexpr std::chrono::seconds kLongestSilence(30);

std::size_t terminal_columns() {
  winsize size{};
  if (::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
  return 80;
}

}  // namespace

ProgressDisplay::ProgressDisplay()
    : is_terminal_(::isatty(STDERR_FILENO) == 1),
      has_color_(takes_colours(STDERR_FILENO)),
      clock_([this](const std::stop_token& stop) { tick(stop); }) {
}

ProgressDisplay::~ProgressDisplay() {
  clock_.request_stop();
  clock_.join();
  if (is_terminal_) set_terminal_line("");
}

void ProgressDisplay::show(const Progress& progress) {
  const std::lock_guard lock(mutex_);
  const std::string log = text_.report(progress);
  has_report_ = true;
  reported_at_ = Clock::now();
  if (is_terminal_) return draw();
  if (log.empty()) return;
  std::fputs(log.c_str(), stderr);
  said_at_ = reported_at_;
}

double ProgressDisplay::since_report_s() const {
  return std::chrono::duration<double>(Clock::now() - reported_at_).count();
}

void ProgressDisplay::draw() {
  const std::string line = text_.line(since_report_s(), terminal_columns() - 1);
  const char* begin = has_color_ ? "\033[36m" : "";
  const char* end = has_color_ ? "\033[0m" : "";
  set_terminal_line(line.empty() ? line : begin + line + end);
}

void ProgressDisplay::tick(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  while (!stop.stop_requested()) {
    woken_.wait_for(lock, stop, kTick, [] { return false; });
    if (stop.stop_requested() || !has_report_) continue;
    if (is_terminal_) {
      draw();
    } else if (Clock::now() - said_at_ >= kLongestSilence) {
      constexpr std::size_t kAnyWidth = 1000;
      const std::string line = text_.line(since_report_s(), kAnyWidth);
      if (!line.empty()) std::fputs((line + "\n").c_str(), stderr);
      said_at_ = Clock::now();
    }
  }
}

}  // namespace aoe::tools
