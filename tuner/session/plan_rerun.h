// PlanRerun: the plans of one subgraph that share a node, raced before and after that node got another Schedule.
#pragma once

#include <filesystem>
#include <vector>

#include "tuner/session/plan_bench.h"
#include "tuner/session/plan_finals.h"

namespace aoe::tuner {

class PlanRerun {
 public:
  /// `trials`: their places in the finalist's list.
  PlanRerun(Finalist& finalist, std::vector<std::size_t> trials, const PlanBenchContext& context,
            Measurer& measurer);

  /// To be called while the bank knows nothing new. "No": the subgraph does not compile.
  Result<void> prepare();
  /// "No": the fastest of the plans fails, or is slower than the fastest was.
  Result<void> race();
  /// Puts the new trials in place of the old ones, and returns their records.
  std::vector<bank::NewRecord> take_results();

 private:
  Finalist& finalist_;
  const std::vector<std::size_t> trials_;
  PlanBench bench_;
  const std::filesystem::path before_om_, after_om_;
  std::vector<PlanTrial> results_;  ///< by `trials_`
};

}  // namespace aoe::tuner
