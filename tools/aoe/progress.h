// Progress of a tuning run on stderr: one line that renews itself every second on a terminal, else plain lines: of finished
// tasks, of waiting, and one when nothing else was said for a while.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "tools/aoe/progress_text.h"

namespace aoe::tools {

class ProgressDisplay {
 public:
  /// Looks at stderr, its width and NO_COLOR. Its clock is a thread: signals are to be blocked before.
  ProgressDisplay();
  ~ProgressDisplay();  ///< leaves the terminal with an empty line
  ProgressDisplay(const ProgressDisplay&) = delete;
  ProgressDisplay& operator=(const ProgressDisplay&) = delete;

  void show(const Progress& progress);

 private:
  using Clock = std::chrono::steady_clock;

  void tick(const std::stop_token& stop);
  void draw();
  double since_report_s() const;

  const bool is_terminal_;
  const bool has_color_;
  std::mutex mutex_;
  std::condition_variable_any woken_;
  ProgressText text_;
  bool has_report_ = false;
  Clock::time_point reported_at_, said_at_ = Clock::now();
  std::jthread clock_;  ///< the last member: it uses the others
};

}  // namespace aoe::tools
