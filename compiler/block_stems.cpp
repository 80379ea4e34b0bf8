// See block_stems.h.
#include "compiler/block_stems.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "base/check.h"
#include "compiler/impl.h"
#include "graph/subgraphs/rewrite_plan.h"

namespace aoe::compiler {
namespace {

using graph::Graph;
using graph::NodeId;

double least_ns(const Graph& graph, NodeId id, const Soc& soc) {
  const Task task = task_of(graph, id);
  double least = std::numeric_limits<double>::infinity();
  for (const Candidate& candidate : default_candidates(task, soc))
    least = std::min(
        least, candidate.impl->plan(task, candidate.format, soc)->estimate_ns(candidate.schedule));
  return least;
}

/// Estimates are no measurements, and what stands around the convolution has its Format to choose.
constexpr double kWorthIt = 0.8;

}  // namespace

graph::Pass block_stems_pass(const Soc& soc) {
  const auto run = [soc](Graph& graph) {
    const graph::Rewrite* const rewrite = graph::rewrites().find("space_to_depth");
    AOE_CHECK(rewrite != nullptr, "no rewrite space_to_depth");
    bool changed = false;
    for (const graph::Place& place : rewrite->find(graph)) {
      Graph blocks = graph;
      if (!rewrite->apply(blocks, place.nodes, {})) continue;
      const NodeId convolution = place.nodes[0];
      const NodeId move = blocks.values[blocks.nodes[convolution].inputs[0]].producer;
      if (least_ns(blocks, convolution, soc) + least_ns(blocks, move, soc) >
          kWorthIt * least_ns(graph, convolution, soc))
        continue;
      graph = std::move(blocks);
      changed = true;
    }
    return changed;
  };
  return {"block_stems", run};
}

}  // namespace aoe::compiler
