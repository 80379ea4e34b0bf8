// chain_after_space_to_depth: space_to_depth, and then fuse_chain of its convolution and the pooling behind it (the stems
// of Inception and ResNet): what they pass to each other is the largest image of the model. One place cannot be rewritten
// twice, so the two come as one.
#include "base/check.h"
#include "graph/rewrite.h"
#include "graph/rewrite_plan.h"

namespace aoe::graph {
namespace {

constexpr double kExpectedShare = 0.45;

const Rewrite& rewrite(const std::string& kind) {
  const Rewrite* found = rewrites().find(kind);
  AOE_CHECK(found != nullptr, "there is no rewrite " + kind);
  return *found;
}

bool is_pooling(const Node& node) {
  return is_type(node, "MaxPoolV3") || is_type(node, "AvgPoolV2");
}

/// On a copy, as the second half may refuse what the first one made.
Result<Graph> rewritten(const Graph& graph, const std::vector<NodeId>& nodes) {
  if (nodes.size() != 2 || !is_pooling(graph.nodes[nodes[1]]))
    return Unexpected("not a convolution and a pooling");
  Graph copy = graph;
  if (auto done = rewrite("space_to_depth").apply(copy, {nodes[0]}, {}); !done)
    return Unexpected(done.error());
  if (auto done = rewrite("fuse_chain").apply(copy, nodes, {}); !done)
    return Unexpected(done.error());
  return copy;
}

std::vector<Place> find(const Graph& graph) {
  std::vector<Place> places;
  for (const Place& stem : rewrite("space_to_depth").find(graph)) {
    const NodeId behind = sole_consumer(graph, graph.nodes[stem.nodes[0]].outputs[0]);
    if (behind != kNone && rewritten(graph, {stem.nodes[0], behind}))
      places.push_back({.nodes = {stem.nodes[0], behind}, .expected_share = kExpectedShare});
  }
  return places;
}

Result<void> apply(Graph& graph, const std::vector<NodeId>& nodes, const RewriteParams&) {
  auto done = rewritten(graph, nodes);
  if (!done) return Unexpected(done.error());
  graph = std::move(*done);
  return {};
}

}  // namespace

void register_chain_after_space_to_depth(RewriteRegistry& registry) {
  registry.add({.kind = "chain_after_space_to_depth", .version = 1, .find = find, .apply = apply});
}

}  // namespace aoe::graph
