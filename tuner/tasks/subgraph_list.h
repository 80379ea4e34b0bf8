// The tuning work of a model's subgraphs: its distinct subgraphs in which something can be
// rewritten, each with all places where it stands.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "compiler/graph_strategies.h"
#include "tuner/search/plan_search.h"

namespace aoe::tuner {

struct SubgraphTask {
  bank::TaskKey key;
  std::vector<graph::CanonicalForm> instances;  ///< the first one is measured
  std::vector<std::vector<std::string>> nodes;  ///< names, by instance
  std::vector<SubgraphPlace> places;            ///< largest expectation first
  std::string type_text;                        ///< "Conv2D+Relu, Conv2D, ..."
  double model_ns = 0;  ///< all instances together in one run of the untuned model
};

/// `node_ns`: the time of each node in the untuned model. In model order. Where the model is cut depends on no measurement:
/// what one run banked must be found by the next.
std::vector<SubgraphTask> collect_subgraphs(
    const graph::Graph& graph, const compiler::Soc& soc,
    const std::function<double(const graph::Node&)>& node_ns);

}  // namespace aoe::tuner
