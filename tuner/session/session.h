// The two orders of tuning: tune_operators() is OPAT, Format, Schedule and Impl of each operator; tune_subgraphs() is
// SGAT, rewrites of the model's subgraphs. SGAT comes first: OPAT's tasks are the operators of the rewritten graph.
#pragma once

#include "bank/knowledge_bank.h"
#include "tuner/measure/measurer.h"
#include "tuner/session/run.h"

namespace aoe::tuner {

/// Throws Error: kModel (the graph does not compile), kBank (it cannot be read at the beginning),
/// kOutput, kFailure (the untuned model does not run). A bank that fails later ends nothing: see
/// TuneOutcome::rescued.
TuneOutcome tune_operators(const graph::Graph& graph, bank::KnowledgeBank& bank,
                           const bank::StrategySource* built_in, Measurer& measurer,
                           const TuneOptions& options);

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
