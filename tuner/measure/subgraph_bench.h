// SubgraphBench: verifies and times the candidates of one subgraph. Runs inside the worker process:
// it may crash.
#pragma once

#include <filesystem>
#include <functional>
#include <vector>

#include "tuner/measure/bench.h"

namespace aoe::tuner {

class SubgraphBench {
 public:
  /// Runs `reference`, an om of reference steps, once: what all candidates must compute. `round_ended` is called behind each
  /// round of a race.
  SubgraphBench(std::filesystem::path reference, const MeasurePolicy& policy, int threads,
                const CacheState& caches, std::function<void()> round_ended);
  SubgraphBench(const SubgraphBench&) = delete;
  SubgraphBench& operator=(const SubgraphBench&) = delete;
  const std::filesystem::path& reference() const { return reference_; }
  /// One Timing per om.
  std::vector<Timing> race(const std::vector<std::filesystem::path>& oms) const;

 private:
  std::filesystem::path reference_;
  Expected expected_;
  Bench bench_;
};

}  // namespace aoe::tuner
