// Sums over the steps of a model.
#include "tuner/session/step_share.h"

#include <algorithm>

#include "base/statistics.h"

namespace aoe::tuner {

StepIndex::StepIndex(const graph::Graph& graph, const std::vector<compiler::StepSource>& steps)
    : graph_(graph), of_node_(graph.nodes.size()), of_value_(graph.values.size()) {
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const auto id = static_cast<StepId>(i);
    if (steps[i].node != graph::kNone) of_node_[index(steps[i].node)].push_back(id);
    if (steps[i].converted != graph::kNone) of_value_[index(steps[i].converted)].push_back(id);
  }
}

std::vector<StepId> StepIndex::of(std::span<const graph::NodeId> nodes) const {
  std::vector<StepId> steps;
  for (const graph::NodeId node : nodes)
    steps.insert(steps.end(), of(node).begin(), of(node).end());
  return steps;
}

std::vector<StepId> StepIndex::with_conversions(std::span<const graph::NodeId> nodes) const {
  std::vector<StepId> steps = of(nodes);
  for (const graph::NodeId id : nodes) {
    const graph::Node& node = graph_.nodes[index(id)];
    for (const auto& values : {node.inputs, node.outputs})
      for (const graph::ValueId value : values)
        if (value != graph::kNone)
          steps.insert(steps.end(), conversions_of(value).begin(), conversions_of(value).end());
  }
  // What one node makes and another reads is converted once.
  std::ranges::sort(steps);
  const auto twice = std::ranges::unique(steps);
  steps.erase(twice.begin(), twice.end());
  return steps;
}

std::vector<double> share_ns(const ModelTiming& timing, std::span<const StepId> steps) {
  std::vector<double> sum(timing.samples_ns.size(), 0);
  for (const StepId step : steps)
    for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += timing.steps_ns[step][i];
  return sum;
}

double sum_of_medians_ns(const ModelTiming& timing, std::span<const StepId> steps) {
  double sum = 0;
  for (const StepId step : steps) sum += median(timing.steps_ns[step]);
  return sum;
}

}  // namespace aoe::tuner
