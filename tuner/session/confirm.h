// Confirmation of operators in place: the tuned model against the untuned one, op by op. What won
// alone but loses inside the model is demoted.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "bank/strategy.h"
#include "compiler/compiler.h"
#include "tuner/session/confirm_rounds.h"
#include "tuner/tasks/task_list.h"

namespace aoe::tuner {

/// A source in which some tasks have nothing but their default: what the next round compiles with.
class DemotedSource final : public bank::StrategySource {
 public:
  DemotedSource(const bank::StrategySource& source, const std::vector<TuningTask>& tasks,
                const std::set<std::string>& demoted);
  std::optional<bank::StrategySet> find(const bank::TaskKey& key) const override;
  std::string description() const override { return source_.description(); }

 private:
  const bank::StrategySource& source_;
  std::map<std::string, bank::StrategySet> defaults_;  ///< of the demoted, by task description
};

/// Which tasks are slower in `tuned` than in `untuned`, all ops of a task together, by a paired
/// verdict.
std::set<std::string> slower_tasks(const ModelTiming& untuned, const ModelTiming& tuned,
                                   const std::vector<TuningTask>& tasks, double margin);

struct ConfirmInput {
  const graph::Graph& graph;
  compiler::CompileOptions compile;  ///< with the strategies to confirm
  const std::vector<TuningTask>& tasks;
  ConfirmSetting setting;
};

/// "No": a model did not run, or the run was stopped.
Result<Confirmation> confirm_in_model(const ConfirmInput& input, Measurer& measurer);

}  // namespace aoe::tuner
