// The ledger of subgraph tuning: which plan each subgraph gets, what the bank is told of it, and
// how the result file counts it. The counterpart of ledger.h.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "bank/knowledge_bank.h"
#include "tuner/result/aoe_result.h"
#include "tuner/search/plan_search.h"
#include "tuner/session/plan_bench.h"
#include "tuner/session/plan_finals.h"
#include "tuner/session/run.h"
#include "tuner/session/subgraph_confirm.h"
#include "tuner/session/tuning_bank.h"

namespace aoe::tuner {

/// What a bank has of a subgraph; its first strategy as a plan.
struct KnownPlan {
  graph::RewritePlan plan;
  bank::StrategySet set;
  bool has_winner() const { return set.has_winner(); }
};

class SubgraphLedger {
 public:
  /// Counts into `section`, which stays with the caller.
  SubgraphLedger(TuningBank& bank, SubgraphResult& section) : bank_(bank), section_(section) {}

  /// A subgraph that is not searched: as the bank has it, or unsatisfied.
  void note_not_searched(const SubgraphTask& task, const std::optional<KnownPlan>& known);
  /// One whose plan an unfinished run has won and not confirmed: with this run's, it is confirmed or withdrawn.
  void adopt(const SubgraphTask& task, const KnownPlan& unconfirmed);
  /// A searched one, with the winner of its finals if there were any; what replaces a stored plan
  /// must have beaten it there. `trials`: how many the search made. The bank knows it all when this returns, plans
  /// that win unconfirmed.
  void settle(const SubgraphTask& task, const std::optional<KnownPlan>& known,
              const std::optional<PlanFinal>& final, std::size_t trials,
              const PlanBenchContext& context);
  /// The model was measured: takes back what does not hold in it, and confirms the rest. What the
  /// bank had before comes back. Descriptions of subgraphs.
  void confirm(const std::set<std::string>& demoted);

  const std::vector<PlannedSubgraph>& plans() const { return plans_; }  ///< to be confirmed
  std::set<std::string> won() const;    ///< in this run, or adopted by it; descriptions
  std::vector<TaskGain> gains() const;  ///< of this run, largest in the whole model first

 private:
  struct Win {
    const SubgraphTask* task;
    PlanTrial trial;
    bank::Strategy strategy;
    bool had_winner = false;
  };
  struct Adopted {
    const SubgraphTask* task;
    bank::Strategy strategy;
  };

  void demote(const std::string& description, bank::Commit& commit);

  TuningBank& bank_;
  SubgraphResult& section_;
  std::vector<PlannedSubgraph> plans_;  ///< this run's and the bank's
  std::map<std::string, Win> wins_;     ///< by description
  std::map<std::string, Adopted> adopted_;
};

}  // namespace aoe::tuner
