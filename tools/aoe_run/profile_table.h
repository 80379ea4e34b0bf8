// The table of --profile: where the time of a run goes, op by op.
#pragma once

#include <iosfwd>
#include <vector>

#include "profiler/recorder.h"
#include "runtime/om.h"

namespace aoe::tools {

/// Adds up the task events of several runs.
class StepTimes {
 public:
  explicit StepTimes(const runtime::Om& om);
  void add(const std::vector<profiler::Event>& events);
  void count_run() { ++runs_; }
  /// Mean per run, the slowest op first.
  void print(std::ostream& out) const;

 private:
  const runtime::Om& om_;
  std::vector<double> total_ns_;  ///< by step
  int runs_ = 0;
};

}  // namespace aoe::tools
