// The table of --profile: where the time of a run goes, op by op.
#pragma once

#include <iosfwd>
#include <vector>

#include "profiler/recorder.h"
#include "runtime/geared_om.h"

namespace aoe::tools {

/// Adds up the task events of several runs.
class StepTimes {
 public:
  /// Of one gear; 0 where the model has none. Both stay with the caller.
  StepTimes(const runtime::GearedOm& model, std::size_t gear);
  void add(const std::vector<profiler::Event>& events);
  void count_run() { ++runs_; }
  /// Mean per run, the slowest op first.
  void print(std::ostream& out) const;

 private:
  const runtime::Om& om_;
  std::vector<double> total_ns_;  ///< by step
  std::size_t first_op_ = 0;      ///< in events, the steps of all gears are counted on
  int runs_ = 0;
};

}  // namespace aoe::tools
