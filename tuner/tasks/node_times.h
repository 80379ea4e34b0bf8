// What each node takes in one run of the untuned model, those in bodies of If, Loop and Scan included. Nobody times these
// alone, for how often a body runs is known only when the model does: each has its share, by estimates, of what the node
// of the model takes that runs it.
#pragma once

#include <map>
#include <vector>

#include "compiler/soc.h"
#include "graph/bodies.h"
#include "graph/graph.h"

namespace aoe::tuner {

/// Of one node alone, roughly, and the same in every run.
double estimated_ns(const graph::Graph& graph, graph::NodeId id, const compiler::Soc& soc);

class NodeTimes {
 public:
  NodeTimes() = default;
  /// `model_ns`: by node id of the model, as measured.
  NodeTimes(const graph::Graph& model, std::vector<double> model_ns, const compiler::Soc& soc);

  double ns(const graph::BodyPath& in, graph::NodeId id) const;

 private:
  std::map<graph::BodyPath, std::vector<double>> ns_;  ///< by node id
};

}  // namespace aoe::tuner
