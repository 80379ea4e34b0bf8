// Which steps of an om run which part of its model, and what these take.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "compiler/compiler.h"
#include "graph/graph.h"
#include "tuner/measure/measurer.h"

namespace aoe::tuner {

using StepId = std::uint32_t;  ///< place among the om's steps

/// The steps of one om by what they run. The graph stays with the caller.
class StepIndex {
 public:
  StepIndex(const graph::Graph& graph, const std::vector<compiler::StepSource>& steps);

  const std::vector<StepId>& of(graph::NodeId node) const { return of_node_[index(node)]; }
  const std::vector<StepId>& conversions_of(graph::ValueId value) const {
    return of_value_[index(value)];
  }

  std::vector<StepId> of(std::span<const graph::NodeId> nodes) const;
  /// And the conversions of what the nodes read and make.
  std::vector<StepId> with_conversions(std::span<const graph::NodeId> nodes) const;

 private:
  static std::size_t index(std::int32_t id) { return static_cast<std::size_t>(id); }

  const graph::Graph& graph_;
  std::vector<std::vector<StepId>> of_node_, of_value_;
};

/// What the steps take together, by run.
std::vector<double> share_ns(const ModelTiming& timing, std::span<const StepId> steps);

/// The sum of the steps' medians.
double sum_of_medians_ns(const ModelTiming& timing, std::span<const StepId> steps);

}  // namespace aoe::tuner
