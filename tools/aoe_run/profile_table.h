// The table of --profile: where the time of a run goes, op by op.
#pragma once

#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

#include "profiler/recorder.h"
#include "runtime/om/om.h"

namespace aoe::tools {

/// An op as the om states it, and what its runs took.
struct OpTime {
  std::string name, type, task, impl;
  double median_ns = 0;
  double flops = 0, bytes = 0;  ///< analytic, of one run: of an op in a loop, of all its trips
  double share = 0;             ///< of the sum of all medians
  std::optional<double>
      roofline;  ///< share of the time that the om's peaks leave no less than; nothing: it states none
};

/// Gathers the task events of several runs.
class StepTimes {
 public:
  /// Of one gear of those that the model has; 0 where it has none. The om stays with the caller.
  StepTimes(const std::vector<const runtime::Om*>& gears, std::size_t gear);
  /// All events of one run.
  void add_run(const std::vector<profiler::Event>& events);
  /// Medians of the runs, the slowest op first: one run that was interrupted makes no op slow. An op of a body counts
  /// with the sum of its trips, and not at all when no run came to it.
  std::vector<OpTime> ops() const;

 private:
  struct Op {
    OpTime facts;  ///< of one call
    bool runs = true, is_in_body = false, has_bodies = false;
    std::vector<double> runs_ns = {}, calls = {};
  };

  const runtime::Om& om_;
  std::vector<Op> ops_;       ///< by number (runtime/om/om_bodies.h)
  std::size_t first_op_ = 0;  ///< in events, the ops of all gears are counted on
};

void print_ops(std::ostream& out, const std::vector<OpTime>& ops);

}  // namespace aoe::tools
