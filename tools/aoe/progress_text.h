// What the progress of a run looks like as text: the line of a terminal, and what a log gets. Knows no clock: who shows it
// says how many seconds have passed since the last report.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "aoe/aoe.h"

namespace aoe::tools {

/// AoeProgress that may be kept.
struct Progress {
  Progress() = default;
  explicit Progress(const AoeProgress& progress);

  int stage = AOE_STAGE_BASELINE;
  int tasks_done = 0, tasks_total = 0, known_tasks = 0, not_searched = 0;
  int model_index = 0, model_count = 0;
  std::string tuning_name, op_name, op_type, shape, waiting;
  double default_ns = 0, best_ns = 0;
  double elapsed_s = 0, remaining_s = 0, limit_left_s = -1;
};

/// The time left as it is shown: it counts down, and says so where it must go up.
class TimeLeft {
 public:
  /// A new estimate at `elapsed_s` of the run; 0: there is none.
  void estimate(double left_s, double elapsed_s);
  /// "0:18 left"; "0:40 left, 0:22 more than thought" for a while after it went up; empty without an estimate.
  std::string text(double elapsed_s) const;

 private:
  double left_at(double elapsed_s) const;

  double left_s_ = 0, at_s_ = 0;
  double raised_by_s_ = 0, raised_at_s_ = 0;
};

/// One model of a run.
class ModelProgressText {
 public:
  /// Takes the report; the lines that a log gets of it, each with its line end, or nothing.
  std::string report(const Progress& progress);
  /// The line of a terminal, `later_s` after the last report, at most `columns` wide.
  std::string line(double later_s, std::size_t columns) const;

 private:
  std::string times(double later_s) const;
  std::string log_of_search(const Progress& progress) const;

  Progress last_;
  TimeLeft left_;
  bool is_first_ = true;
};

/// One run of several models, one after the other or at once: what is said of another than the last one names it first.
class ProgressText {
 public:
  std::string report(const Progress& progress);
  std::string line(double later_s, std::size_t columns) const;

 private:
  std::map<std::string, ModelProgressText> models_;  ///< that have begun and not ended
  std::string last_model_, said_model_;
  bool has_several_ = false;
};

/// "1:05", "12:00", "1:02:03"
std::string duration_text(double seconds);

}  // namespace aoe::tools
