// Progress of a tuning run on stderr: one line that renews itself on a terminal, else one plain line per finished task.
#pragma once

#include <string>

#include "aoe/aoe.h"

namespace aoe::tools {

/// AoeProgress that may be kept.
struct Progress {
  Progress() = default;
  explicit Progress(const AoeProgress& progress);

  int stage = AOE_STAGE_BASELINE;
  int tasks_done = 0, tasks_total = 0;
  std::string tuning_name, op_name, op_type, shape;
  double default_ns = 0, best_ns = 0;
  double elapsed_s = 0, remaining_s = 0;
};

class ProgressDisplay {
 public:
  /// Looks at stderr, its width and NO_COLOR.
  ProgressDisplay();
  ~ProgressDisplay();  ///< leaves the terminal with an empty line

  void show(const Progress& progress);

 private:
  void show_plain(const Progress& progress);

  bool is_terminal_;
  bool has_color_;
  int last_task_done_ = 0;
  bool has_open_line_ = false;
  Progress last_;
};

/// The line without colours, at most `columns` wide: `12/24 [=====>    ] Conv2D conv1 1x3x224x224 ... 123.4 us, default 156.7 us, ...`.
std::string progress_line(const Progress& progress, std::size_t columns);

/// "1:05", "12:00", "1:02:03"
std::string duration_text(double seconds);

}  // namespace aoe::tools
