// The tuning work of a model: its distinct tasks, each with the ops that share it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "compiler/compiler.h"
#include "compiler/task.h"
#include "graph/graph.h"
#include "tuner/tasks/op_filter.h"

namespace aoe::tuner {

struct TuningTask {
  compiler::Task task;
  bank::TaskKey key;
  std::vector<std::string> nodes;  ///< names of the ops that share it, in model order
  std::vector<std::string> op_types;
  compiler::Candidate default_candidate;        ///< of the untuned model
  std::vector<compiler::Candidate> heuristics;  ///< every (Impl, Format) worth a measurement
  double model_ns = 0;  ///< all its ops together in one run of the untuned model

  std::string type_text() const;   ///< "Conv2D+Relu"
  std::string shape_text() const;  ///< "1x64x56x56 -> 1x64x56x56"
};

/// The work that one node is, without a time; nullopt: nothing is to be chosen. `report`: how the compiler made it by itself.
std::optional<TuningTask> tuning_task(const graph::Graph& graph, graph::NodeId id,
                                      const compiler::NodeReport& report, const compiler::Soc& soc);

/// Tasks that leave something to choose, in model order: static shapes, allowed by `filter`, and
/// more than one candidate. `untuned`: how the compiler made each node without strategies.
std::vector<TuningTask> collect_tasks(const graph::Graph& graph,
                                      const compiler::Compilation& untuned,
                                      const compiler::Soc& soc, const OpFilter& filter);

}  // namespace aoe::tuner
