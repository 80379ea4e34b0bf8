// The search of one task. First what must be measured: the default, the bank's and the neighbours'
// strategies, what the cost model expects to be fastest, and one Schedule of every (Impl, Format)
// that nothing is known about. Then small batches of what evolution and the cost model propose,
// with some random ones, until the limits, the expected gain or patience end it.
#pragma once

#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "compiler/impl.h"
#include "tuner/deadline.h"
#include "tuner/measure/measurer.h"
#include "tuner/policy.h"
#include "tuner/search/cost_model.h"
#include "tuner/search/sampler.h"

namespace aoe::tuner {

struct SearchResult;

struct Trial {
  compiler::Candidate candidate;
  Timing timing;
  bool is_recalled = false;     ///< not measured now: a record of an earlier run
  compiler::Features features;  ///< what the cost model learns from
};

struct SearchLimits {
  int trials = 0;  ///< recalled ones included: a resumed search ends where it would have ended
  Deadline deadline;
  std::stop_token stop;
};

struct SearchTask {
  const compiler::Task& task;
  const compiler::Soc& soc;
  /// What an untuned compile uses; always measured first.
  compiler::Candidate default_candidate;
  /// Measured in any case: bank strategies, winners of neighbours.
  std::vector<compiler::Candidate> seeds = {};
  /// The (Impl, Format) pairs to search, each with some Schedule; those of the seeds and the
  /// default are searched, too.
  std::vector<compiler::Candidate> heuristics = {};
  const CostModel* experience = nullptr;  ///< what other tasks taught; nullptr: nothing
  WeightsIn weights_in = WeightsIn::kMemory;
  double least_ns = 0;  ///< no candidate can be faster; 0: not known
  /// An earlier measurement of a candidate, if there is one.
  std::function<std::optional<Timing>(const compiler::Candidate&)> recall = {};
  /// Called after each batch with all trials so far and the number of new ones.
  std::function<void(const SearchResult&, std::size_t added)> on_batch = {};
};

struct SearchResult {
  std::vector<Trial> trials;  ///< the default first
  std::string ended_by;  ///< "roof", "gain", "patience", "trials", "time", "exhausted", "stopped"
  int measured = 0;      ///< trials that were not recalled

  const Trial& default_trial() const { return trials.front(); }
  /// Of the fastest verified trial; nullptr when none is.
  const Trial* best() const;
  /// Verified trials, fastest first.
  std::vector<const Trial*> ranked() const;
};

SearchResult search(const SearchTask& what, Measurer& measurer, const SearchPolicy& policy,
                    const SearchLimits& limits, Random& random);

struct Prediction {
  compiler::Candidate candidate;
  double expected_ns = 0;
};

/// Without a single measurement: the candidate of each Format that the experience expects to be the
/// fastest, fastest first, of the default, the heuristics and the seeds, winners of neighbours above
/// all. Only where tasks like this one were measured, and not of the whole space: the best of
/// thousands of expectations is mostly the most mistaken one (ResNet-50 became slower by a quarter).
/// Not verified.
std::vector<Prediction> predict(const SearchTask& what);

}  // namespace aoe::tuner
