// Bench: verifies and times candidates that compute the same, an operator's or a subgraph's, each an om. Lives in the worker
// process: a candidate may crash.
#pragma once

#include <functional>
#include <memory>
#include <new>
#include <vector>

#include "base/tensor.h"
#include "runtime/om/om.h"
#include "tuner/measure/cache_state.h"
#include "tuner/measure/measurer.h"
#include "tuner/policy.h"

namespace aoe::tuner {

/// Runs `work`; what it throws becomes a failed Timing. `fallback` names the stage it belongs to.
template <typename Work>
Timing guarded(Outcome fallback, Work&& work) {
  try {
    return work();
  } catch (const std::bad_alloc&) {
    return Timing::failure(Outcome::kOutOfMemory, "memory limit of the worker reached");
  } catch (const std::exception& e) {
    return Timing::failure(fallback, e.what());
  }
}

/// What all candidates get and must compute.
struct Expected {
  std::vector<ConstantPtr> inputs;  ///< of the om
  std::vector<std::unique_ptr<Constant>> outputs;
  double reduction_length = 1;  ///< see verify.h
  double least_tolerance = 0;
};

/// What is verified and timed.
struct Contender {
  runtime::Om om;
  double error_growth = 1;  ///< see verify.h
};

struct BenchSetting {
  const MeasurePolicy& policy;
  const CacheState& caches;
  int threads = 1;
  /// Steps whose time is the candidate's own; conversions that are there for the om alone are none.
  bool (*counts)(const runtime::Om& om, const runtime::OmStep& step);
  /// Whether those that are clearly slower leave a race: their samples are as many as the rounds they took part in.
  bool drops_racers = false;
  std::function<void()> round_ended = [] {};  ///< called behind each round of a race
};

class Bench {
 public:
  Bench(const Expected& expected, const BenchSetting& setting)
      : expected_(expected), setting_(setting) {}

  /// Until there are samples enough; one that is clearly slower than `best_ns` is dropped.
  Timing measure(Contender contender, double best_ns) const;

  /// Paired and interleaved. Those that fail have no samples, the others have equally many, but for those that left: sample k
  /// was taken in round k. The first never leaves. `contender` makes the i-th.
  std::vector<Timing> race(std::size_t count,
                           const std::function<Contender(std::size_t)>& contender) const;

 private:
  const Expected& expected_;
  const BenchSetting setting_;
};

}  // namespace aoe::tuner
