// chain_across_shuffle: absorb_channel_shuffle, and then fuse_chain of what stood around the shuffle: the depthwise and
// the grouped convolution behind it, with or without the convolution before it (the blocks of ShuffleNet). One place
// cannot be rewritten twice, so the two come as one.
#include "graph/chain_choices.h"
#include "graph/composed_rewrite.h"

namespace aoe::graph {
namespace {

constexpr std::size_t kShuffled = 5;  ///< Reshape, Transpose, Reshape, depthwise and grouped Conv2D
constexpr double kExpectedShare = 0.3;

RewriteSteps steps_with(const RewriteParams& params) {
  return [params](Graph& graph, const std::vector<NodeId>& nodes) -> Result<void> {
    if (nodes.size() != kShuffled && nodes.size() != kShuffled + 1)
      return Unexpected("not a shuffle with convolutions around it");
    const std::vector<NodeId> shuffle(nodes.end() - kShuffled, nodes.end());
    if (auto done = rewrite_named("absorb_channel_shuffle").apply(graph, shuffle, {}); !done)
      return done;
    std::vector<NodeId> chain(nodes.begin(), nodes.end() - kShuffled);
    chain.insert(chain.end(), nodes.end() - 2, nodes.end());
    return rewrite_named("fuse_chain").apply(graph, chain, params);
  };
}

std::vector<Place> find(const Graph& graph) {
  std::vector<Place> places;
  const auto add = [&](std::vector<NodeId> nodes) {
    if (check_steps(graph, nodes, steps_with({})))
      places.push_back({.nodes = std::move(nodes),
                        .choices = chain_choices(),
                        .expected_share = kExpectedShare});
  };
  for (const Place& shuffle : rewrite_named("absorb_channel_shuffle").find(graph)) {
    const NodeId before = graph.values[graph.nodes[shuffle.nodes[0]].inputs[0]].producer;
    if (before != kNone) {
      std::vector<NodeId> nodes = {before};
      nodes.insert(nodes.end(), shuffle.nodes.begin(), shuffle.nodes.end());
      add(std::move(nodes));
    }
    add(shuffle.nodes);
  }
  return places;
}

Result<void> apply(Graph& graph, const std::vector<NodeId>& nodes, const RewriteParams& params) {
  return apply_steps(graph, nodes, steps_with(params));
}

}  // namespace

void register_chain_across_shuffle(RewriteRegistry& registry) {
  registry.add({.kind = "chain_across_shuffle", .version = 1, .find = find, .apply = apply});
}

}  // namespace aoe::graph
