// Operator tuning of nodes that rewrites make: the same search with few trials. Winners go to the op bank, as those of
// operator tuning do, so that plans are compiled with them from then on, here and by atc.
#pragma once

#include <functional>
#include <vector>

#include "tuner/session/confirmation.h"
#include "tuner/session/ledger.h"
#include "tuner/session/operator_tuner.h"
#include "tuner/session/rewritten_nodes.h"

namespace aoe::tuner {

struct RewrittenNodeBanks {
  TuningBank& op;     ///< in the strategies that plans are compiled with
  TuningBank& graph;  ///< gets the records of races
};

class RewrittenNodeTuning {
 public:
  /// All stay with the caller.
  RewrittenNodeTuning(const PlanBenchContext& context, RewrittenNodeBanks banks,
                      const Baseline& baseline, Measurer& measurer)
      : context_(context),
        banks_(banks),
        measurer_(measurer),
        tuner_(context.options, baseline, banks.op, measurer),
        ledger_(banks.op) {}

  using OnBatch = std::function<void(const SearchResult&)>;
  /// Searches; after a win, the node's plans race again and their trials in `finalists` are replaced. What is faster alone
  /// and slower in its subgraph is taken back. Returns the number of trials that were measured.
  int tune(const RewrittenNode& node, std::vector<Finalist>& finalists, const SearchLimits& limits,
           const OnBatch& on_batch);

  /// The whole model was measured: the bank's strategies of the nodes are confirmed, or go when nothing of the run is kept.
  void conclude(Fate fate);

 private:
  using Known = std::optional<bank::StrategySet>;

  /// Commits the win and keeps it if the subgraphs are not slower with it.
  Result<void> try_in_subgraphs(const RewrittenNode& node, Conclusion conclusion,
                                const Known& known, std::vector<Finalist>& finalists);

  const PlanBenchContext& context_;
  RewrittenNodeBanks banks_;
  Measurer& measurer_;
  OperatorTuner tuner_;
  Ledger ledger_;
};

}  // namespace aoe::tuner
