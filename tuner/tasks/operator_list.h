// The tuning work of a model's operators: its distinct tasks, each with the ops that share it, those in bodies of If, Loop
// and Scan included.
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

/// An op in a body. Nobody times it alone: how often a body runs is known only when the model does.
struct BodyPlace {
  graph::NodeId control =
      graph::kNone;  ///< the node of the model that runs it, if by way of others
  double share = 0;  ///< of what that node takes, by the estimates of all tasks in its bodies
};

struct OperatorTask final : Tunable {
  compiler::Task task;
  std::vector<std::string>
      nodes;  ///< names of the ops that share it, "loop/op" in bodies, in model order
  std::vector<graph::NodeId> ids;  ///< of those that are not in bodies
  std::vector<BodyPlace> in_bodies = {};
  std::vector<std::string> op_types;
  compiler::Candidate default_candidate;        ///< of the untuned model
  std::vector<compiler::Candidate> heuristics;  ///< every (Impl, Format) worth a measurement

  const std::string& first_node() const override { return nodes.front(); }
  int places() const override { return static_cast<int>(nodes.size()); }
  /// The nodes of the model in whose time its own is: of ops in bodies those that run them.
  std::vector<graph::NodeId> timed_nodes() const;
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

/// Tasks that leave something to choose, in model order, those of bodies where the node is that runs them: static shapes,
/// allowed by `filter`, and more than one candidate. `untuned`: how the compiler made each node without strategies;
/// bodies are compiled again to know it of their nodes.
std::vector<OperatorTask> collect_operators(const graph::Graph& graph,
                                            const compiler::Compilation& untuned,
                                            const compiler::Soc& soc, const OpFilter& filter);

}  // namespace aoe::tuner
