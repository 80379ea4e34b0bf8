// Operator tuning of nodes that rewrites make: the same search with few trials. Winners go to the op bank, as those of
// operator tuning do, so that plans are compiled with them from then on, here and by atc.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "tuner/session/made_nodes.h"
#include "tuner/session/task_tuning.h"
#include "tuner/session/tuning_bank.h"
#include "tuner/tasks/neighbours.h"

namespace aoe::tuner {

struct MadeNodeBanks {
  TuningBank& op;     ///< in the strategies that plans are compiled with
  TuningBank& graph;  ///< gets the records of races
};

class MadeNodeTuning {
 public:
  MadeNodeTuning(const PlanBenchContext& context, MadeNodeBanks banks, WeightsIn weights_in,
                 Measurer& measurer)
      : context_(context), banks_(banks), weights_in_(weights_in), measurer_(measurer) {}

  using OnBatch = std::function<void(const SearchResult&)>;
  /// Searches; after a win, the node's plans race again and their trials in `finalists` are replaced. What is faster alone
  /// and slower in its subgraph is taken back. Returns the number of trials that were measured.
  int tune(const MadeNode& node, std::vector<Finalist>& finalists, const SearchLimits& limits,
           const OnBatch& on_batch);

  /// The whole model was measured: the bank's strategies of the nodes are confirmed, or go when nothing of the run is kept.
  void confirm(bool keeps);

 private:
  using Known = std::optional<bank::StrategySet>;

  void learn_from_bank(const TuningTask& task);
  TaskVerdict search(const TuningTask& task, const Known& known, const SearchLimits& limits,
                     const OnBatch& on_batch);
  void commit(const TuningTask& task, const TaskVerdict& verdict, const Known& known);
  void withdraw(const TuningTask& task);
  /// Commits the win and keeps it if the subgraphs are not slower with it.
  Result<void> try_in_subgraphs(const MadeNode& node, const TaskVerdict& verdict,
                                const Known& known, std::vector<Finalist>& finalists);

  const PlanBenchContext& context_;
  MadeNodeBanks banks_;
  WeightsIn weights_in_;
  Measurer& measurer_;
  CostModel cost_model_;
  std::set<std::string> learnt_;  ///< Impls whose records were read
  std::vector<Neighbour> winners_;
  std::vector<bank::NewRecord> pending_;
  struct Staged {
    bank::TaskKey key;
    std::vector<bank::Strategy> strategies;
    bool replaces = false;
  };
  std::map<std::string, Staged> staged_;  ///< by description; unconfirmed in the bank
};

}  // namespace aoe::tuner
