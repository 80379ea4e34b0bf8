// PlanBench: compiles and measures rewrite plans of one subgraph, and records each measurement.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "bank/knowledge_bank.h"
#include "base/statistics.h"
#include "compiler/compiler.h"
#include "tuner/measure/measurer.h"
#include "tuner/search/plan_search.h"
#include "tuner/session/run.h"
#include "tuner/tasks/subgraph_list.h"

namespace aoe::tuner {

struct PlanBenchContext {
  const graph::Graph& graph;
  compiler::CompileOptions compile;  ///< with the operators' strategies
  std::string policy_text;           ///< Baseline::policy_text
  const TuneOptions& options;
};

/// How a part of the model is compiled, the subgraph of a task with a plan or without: what converts at its border decides
/// nothing.
compiler::CompileOptions options_of_part(const graph::Graph& part, const SubgraphTask& task,
                                         const PlanBenchContext& context);

/// How the graph bank stores a trial; without a verdict.
bank::Strategy measured_strategy(const PlanTrial& trial, const PlanBenchContext& context);

/// Throws Error(kOutput) where an om cannot be written: that is no plan's fault, and no bank may say so.
class PlanBench {
 public:
  /// A plan that is among `records` is not measured again.
  PlanBench(const SubgraphTask& task, PlanBenchContext context, Measurer& measurer,
            const std::vector<bank::Record>& records);

  /// Compiles the subgraph as it is, and by reference steps; "no": it does not compile.
  Result<void> prepare();
  /// Against the subgraph as it is. A plan that changes nothing in the om is not timed.
  PlanTrial measure(const graph::RewritePlan& plan);

  /// Compiles the subgraph with the plan, as the strategies are now. "No": it does not compile.
  Result<void> write(const graph::RewritePlan& plan, const std::filesystem::path& om) const;
  /// Two oms of the subgraph, paired. "No": one of them does not run.
  Result<Comparison> compare(const std::filesystem::path& before,
                             const std::filesystem::path& after);

  std::vector<bank::NewRecord> take_records() { return std::move(records_); }
  int measured() const { return measured_; }  ///< trials that were not recalled

 private:
  void write_om(const graph::Graph& graph, const compiler::CompileOptions& options,
                const std::filesystem::path& path) const;
  std::pair<Timing, Timing> race(const std::filesystem::path& a, const std::filesystem::path& b);

  const SubgraphTask& task_;
  const PlanBenchContext context_;
  Measurer& measurer_;
  const std::filesystem::path reference_om_, before_om_, after_om_;
  std::map<std::string, bank::Record> recalled_;  ///< by plan
  std::vector<bank::NewRecord> records_;
  int measured_ = 0;
};

}  // namespace aoe::tuner
