// chain_across_shuffle: absorb_channel_shuffle, and then fuse_chain of what stood around the shuffle: the depthwise and
// the grouped convolution behind it, with or without the convolution before it (the blocks of ShuffleNet). One place
// cannot be rewritten twice, so the two come as one.
#include <optional>

#include "base/check.h"
#include "graph/chain_choices.h"
#include "graph/rewrite.h"
#include "graph/rewrite_plan.h"

namespace aoe::graph {
namespace {

constexpr std::size_t kShuffled = 5;  ///< Reshape, Transpose, Reshape, depthwise and grouped Conv2D
constexpr double kExpectedShare = 0.3;

const Rewrite& rewrite(const std::string& kind) {
  const Rewrite* found = rewrites().find(kind);
  AOE_CHECK(found != nullptr, "there is no rewrite " + kind);
  return *found;
}

/// On a copy, as the second half may refuse what the first one made.
Result<Graph> rewritten(const Graph& graph, const std::vector<NodeId>& nodes,
                        const RewriteParams& params) {
  if (nodes.size() != kShuffled && nodes.size() != kShuffled + 1)
    return Unexpected("not a shuffle with convolutions around it");
  Graph copy = graph;
  const std::vector<NodeId> shuffle(nodes.end() - kShuffled, nodes.end());
  if (auto done = rewrite("absorb_channel_shuffle").apply(copy, shuffle, {}); !done)
    return Unexpected(done.error());
  std::vector<NodeId> chain(nodes.begin(), nodes.end() - kShuffled);
  chain.insert(chain.end(), nodes.end() - 2, nodes.end());
  if (auto done = rewrite("fuse_chain").apply(copy, chain, params); !done)
    return Unexpected(done.error());
  return copy;
}

std::vector<Place> find(const Graph& graph) {
  std::vector<Place> places;
  const auto add = [&](std::vector<NodeId> nodes) {
    if (rewritten(graph, nodes, {}))
      places.push_back({.nodes = std::move(nodes),
                        .choices = chain_choices(),
                        .expected_share = kExpectedShare});
  };
  for (const Place& shuffle : rewrite("absorb_channel_shuffle").find(graph)) {
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
  auto done = rewritten(graph, nodes, params);
  if (!done) return Unexpected(done.error());
  graph = std::move(*done);
  return {};
}

}  // namespace

void register_chain_across_shuffle(RewriteRegistry& registry) {
  registry.add({.kind = "chain_across_shuffle", .version = 1, .find = find, .apply = apply});
}

}  // namespace aoe::graph
