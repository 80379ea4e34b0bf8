// chain_after_space_to_depth: space_to_depth, and then fuse_chain of its convolution and the pooling behind it (the stems
// of Inception and ResNet): what they pass to each other is the largest image of the model. One place cannot be rewritten
// twice, so the two come as one.
#include "graph/composed_rewrite.h"
#include "graph/rewrite.h"

namespace aoe::graph {
namespace {

constexpr double kExpectedShare = 0.45;

Result<void> run_steps(Graph& graph, const std::vector<NodeId>& nodes) {
  if (nodes.size() != 2 || !reference::is_pooling(graph.nodes[nodes[1]].op.type))
    return Unexpected("not a convolution and a pooling");
  if (auto done = rewrite_named("space_to_depth").apply(graph, {nodes[0]}, {}); !done) return done;
  return rewrite_named("fuse_chain").apply(graph, nodes, {});
}

std::vector<Place> find(const Graph& graph) {
  std::vector<Place> places;
  for (const Place& stem : rewrite_named("space_to_depth").find(graph)) {
    const NodeId behind = sole_consumer(graph, graph.nodes[stem.nodes[0]].outputs[0]);
    if (behind != kNone && check_steps(graph, {stem.nodes[0], behind}, run_steps))
      places.push_back({.nodes = {stem.nodes[0], behind}, .expected_share = kExpectedShare});
  }
  return places;
}

Result<void> apply(Graph& graph, const std::vector<NodeId>& nodes, const RewriteParams&) {
  return apply_steps(graph, nodes, run_steps);
}

}  // namespace

void register_chain_after_space_to_depth(RewriteRegistry& registry) {
  registry.add({.kind = "chain_after_space_to_depth", .version = 1, .find = find, .apply = apply});
}

}  // namespace aoe::graph
