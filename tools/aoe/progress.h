// Progress of a tuning run on stderr: one line that renews itself on a terminal, else one plain line per finished task.
#pragma once

#include <string>

#include "tuner/tuner.h"

namespace aoe::tools {

class ProgressDisplay {
 public:
  /// Looks at stderr, its width and NO_COLOR.
  ProgressDisplay();
  ~ProgressDisplay();  ///< leaves the terminal with an empty line

  void show(const tuner::Progress& progress);

 private:
  void show_plain(const tuner::Progress& progress);

  bool is_terminal_;
  bool has_color_;
  int last_task_done_ = 0;
  bool has_open_line_ = false;
  tuner::Progress last_;
};

/// The line without colours, at most `columns` wide: `12/24 [=====>    ] Conv2D conv1 1x3x224x224 ... 123.4 us, default 156.7 us, ...`.
std::string progress_line(const tuner::Progress& progress, std::size_t columns);

/// "1:05", "12:00", "1:02:03"
std::string duration_text(double seconds);

}  // namespace aoe::tools
