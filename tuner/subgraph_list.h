// The tuning work of a model's subgraphs: its distinct subgraphs in which something can be
// rewritten, each with all places where it stands.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "compiler/graph_strategies.h"
#include "graph/rewrite_plan.h"

namespace aoe::tuner {

/// What a kind of rewrite can do inside a subgraph; nodes are canonical ids.
struct SubgraphPlace {
  std::string kind;
  int version = 0;
  std::vector<int> nodes;
  std::vector<graph::RewriteParams> choices;
  double expected_ns = 0;  ///< a guess of what goes away, from flops and bytes
};

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
