// OperatorTuner: tunes one operator's task after the other; each search begins with what the bank and those before have
// taught.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <set>
#include <string>
#include <vector>

#include "tuner/session/baseline.h"
#include "tuner/session/operator_tuning.h"
#include "tuner/session/tuning_bank.h"
#include "tuner/tasks/neighbours.h"

namespace aoe::tuner {

class OperatorTuner {
 public:
  /// All stay with the caller.
  OperatorTuner(const TuneOptions& options, const Baseline& baseline, const TuningBank& bank,
                Measurer& measurer)
      : options_(options), baseline_(baseline), bank_(bank), measurer_(measurer) {}

  /// What earlier runs measured and won, of this model or another; a fleet's nodes learn it, too.
  void learn();
  /// The same, of the task's Impls that nothing was learnt of yet.
  void learn_for(const OperatorTask& task);
  /// Whether tasks of this Impl were measured before.
  bool knows(const compiler::Impl& impl) const { return cost_model_.knows(impl); }

  /// With more seeds, and with the bank's records.
  Conclusion tune(OperatorTuningInput input);
  /// The same as an order for a node (operator_order.h), which has what learn() told it, and `limit_s` of time; 0: no limit.
  nlohmann::json order(OperatorTuningInput input, double limit_s) const;
  /// Seeds the searches to come.
  void note_winner(const OperatorTask& task, const bank::Strategy& strategy);

 private:
  void learn_winners();
  void add_what_is_known(OperatorTuningInput& input) const;
  OperatorTuningContext context() const;

  const TuneOptions& options_;
  const Baseline& baseline_;
  const TuningBank& bank_;
  Measurer& measurer_;
  CostModel cost_model_;
  std::set<std::string> learnt_;  ///< Impls, by learn_for()
  std::vector<Neighbour> winners_;
};

}  // namespace aoe::tuner
