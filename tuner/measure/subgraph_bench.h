// SubgraphBench: verifies and times the candidates of one subgraph. Runs inside the worker process:
// it may crash.
#pragma once

#include <filesystem>
#include <memory>
#include <span>
#include <vector>

#include "tuner/measure/cache_state.h"
#include "tuner/measure/measurer.h"
#include "tuner/policy.h"

namespace aoe::tuner {

class SubgraphBench {
 public:
  /// Runs `reference`, an om of reference steps, once: what all candidates must compute.
  SubgraphBench(std::filesystem::path reference, const MeasurePolicy& policy, int threads,
                const CacheState& caches);
  ~SubgraphBench();

  const std::filesystem::path& reference() const { return reference_; }
  /// Interleaved, as OpBench::race(); one Timing per om.
  std::vector<Timing> race(const std::vector<std::filesystem::path>& oms);

 private:
  class Racer;

  std::filesystem::path reference_;
  const MeasurePolicy& policy_;
  int threads_;
  const CacheState& caches_;
  std::vector<ConstantPtr> inputs_;
  std::vector<std::unique_ptr<Constant>> expected_;
  double reduction_length_ = 1;
};

}  // namespace aoe::tuner
