// The tuning work of a model's operators: its distinct tasks, each with the ops that share it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "compiler/compiler.h"
#include "compiler/task.h"
#include "graph/graph.h"
#include "tuner/tasks/op_filter.h"
#include "tuner/tasks/tunable.h"

namespace aoe::tuner {

struct OperatorTask final : Tunable {
  compiler::Task task;
  std::vector<std::string> nodes;  ///< names of the ops that share it, in model order
  std::vector<graph::NodeId> ids;  ///< of the same
  std::vector<std::string> op_types;
  compiler::Candidate default_candidate;        ///< of the untuned model
  std::vector<compiler::Candidate> heuristics;  ///< every (Impl, Format) worth a measurement

  const std::string& first_node() const override { return nodes.front(); }
  int places() const override { return static_cast<int>(nodes.size()); }
  std::string type_text() const override;
  std::string shape_text() const override;  ///< "1x64x56x56 -> 1x64x56x56"
  Result<void> accepts(const bank::Strategy& stored, const compiler::Soc& soc) const override;
  bank::Strategy default_strategy(const bank::Strategy& other) const override;
  std::string text_of(const bank::Strategy& strategy) const override;  ///< "direct NC1HWC0"
};

/// The work that one node is, without a time; nullopt: nothing is to be chosen. `report`: how the compiler made the node by
/// itself.
std::optional<OperatorTask> operator_task(const graph::Graph& graph,
                                          const compiler::NodeReport& report,
                                          const compiler::Soc& soc);

/// Tasks that leave something to choose, in model order: static shapes, allowed by `filter`, and
/// more than one candidate. `untuned`: how the compiler made each node without strategies.
std::vector<OperatorTask> collect_operators(const graph::Graph& graph,
                                            const compiler::Compilation& untuned,
                                            const compiler::Soc& soc, const OpFilter& filter);

}  // namespace aoe::tuner
