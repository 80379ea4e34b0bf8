// Subgraph tuning (SGAT): searches rewrites of the subgraphs of a model by measuring them, keeps
// the winners in the graph bank, and compiles the rewritten model. Comes before operator tuning,
// whose tasks are the operators of the rewritten graph.
#pragma once

#include "bank/knowledge_bank.h"
#include "tuner/tuner.h"

namespace aoe::tuner {

struct SubgraphTuneInput {
  const graph::Graph& graph;
  bank::KnowledgeBank& graph_bank;
  const bank::StrategySource* built_in = nullptr;       ///< graph bank of the product
  const bank::StrategySource* op_strategies = nullptr;  ///< of the operators, before and after
  /// Below `op_strategies`: gets what is found for the nodes that rewrites make. nullptr: they keep the heuristic Schedule.
  bank::KnowledgeBank* op_bank = nullptr;
};

/// Same rules as tune_operators(): stop, limits, reload, result file, errors. But plans win at the end, in the whole model: a
/// run that is stopped before has its measurements in the bank and no winners yet; with `reload` it repeats none of them.
TuneOutcome tune_subgraphs(const SubgraphTuneInput& input, Measurer& measurer,
                           const TuneOptions& options);

}  // namespace aoe::tuner
