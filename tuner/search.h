// The search of one task: seeds first (default, bank, neighbours, every Impl and Format with its
// heuristic Schedule), then Schedules, drawn at random and mutated from good ones, in small
// batches, until the limits or its own patience end it.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "compiler/impl.h"
#include "tuner/measurer.h"
#include "tuner/policy.h"
#include "tuner/sampler.h"

namespace aoe::tuner {

struct SearchResult;

struct Trial {
  compiler::Candidate candidate;
  Timing timing;
  bool is_recalled = false;  ///< not measured now: a record of an earlier run
};

struct SearchLimits {
  int trials = 0;  ///< recalled ones included: a resumed search ends where it would have ended
  std::optional<std::chrono::steady_clock::time_point> deadline;
  std::stop_token stop;
};

struct SearchTask {
  const compiler::Task& task;
  const compiler::Soc& soc;
  /// What an untuned compile uses; always measured first.
  compiler::Candidate default_candidate;
  /// Measured in any case: bank strategies, winners of neighbours, heuristics of every (Impl,
  /// Format).
  std::vector<compiler::Candidate> seeds;
  /// An earlier measurement of a candidate, if there is one.
  std::function<std::optional<Timing>(const compiler::Candidate&)> recall;
  /// Called after each batch with all trials so far and the number of new ones.
  std::function<void(const SearchResult&, std::size_t added)> on_batch;
};

struct SearchResult {
  std::vector<Trial> trials;  ///< the default first
  std::string ended_by;       ///< "patience", "trials", "time", "exhausted", "stopped"
  int measured = 0;           ///< trials that were not recalled

  const Trial& default_trial() const { return trials.front(); }
  /// Of the fastest verified trial; nullptr when none is.
  const Trial* best() const;
  /// Verified trials, fastest first.
  std::vector<const Trial*> ranked() const;
};

SearchResult search(const SearchTask& what, Measurer& measurer, const SearchPolicy& policy,
                    const SearchLimits& limits, Random& random);

}  // namespace aoe::tuner
