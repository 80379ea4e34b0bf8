// race(): paired, interleaved timing of several candidates, one loop for operators and subgraphs.
#pragma once

#include <memory>
#include <new>
#include <utility>
#include <vector>

#include "base/result.h"
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

/// `make(i)` returns the i-th racer by unique_ptr; a racer has warm_up_and_verify() and run_ns().
/// One that fails has no samples, the others have equally many: sample k was taken in round k.
template <typename Make>
std::vector<Timing> race(std::size_t count, const MeasurePolicy& policy, Make make) {
  std::vector<Timing> timings(count);
  std::vector<decltype(make(count))> racers(count);
  for (std::size_t i = 0; i < count; ++i) {
    timings[i] = guarded(Outcome::kCrashed, [&] {
      racers[i] = make(i);
      if (auto right = racers[i]->warm_up_and_verify(); !right)
        return Timing::failure(Outcome::kWrongResult, right.error());
      return Timing{};
    });
    if (!timings[i].ok()) racers[i].reset();
  }
  double first_total_ns = 0;
  for (int round = 0; round < policy.max_race_rounds; ++round) {
    if (round >= policy.min_race_rounds && first_total_ns >= policy.race_duration_ms * 1e6) break;
    // Each one starts a round in turn, so that none always runs in the same neighbour's wake.
    for (std::size_t turn = 0; turn < count; ++turn) {
      const std::size_t i = (turn + static_cast<std::size_t>(round)) % count;
      if (!racers[i]) continue;
      const double ns = racers[i]->run_ns();
      timings[i].samples_ns.push_back(ns);
      if (i == 0) first_total_ns += ns;
    }
  }
  return timings;
}

}  // namespace aoe::tuner
