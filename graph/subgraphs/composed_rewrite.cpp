// See composed_rewrite.h.
#include "graph/subgraphs/composed_rewrite.h"

#include <algorithm>
#include <numeric>
#include <set>

#include "graph/subgraph.h"
#include "graph/subgraphs/atoms.h"

namespace aoe::graph {
namespace {

constexpr const char* kFirstNodes =
    "first";                    ///< parameter: so many of the nodes are the first rewrite's
constexpr int kVersions = 100;  ///< of one rewrite
constexpr int kReach = 3;       ///< edges from the first's nodes to what the second takes besides

/// The nodes, and behind them those around them.
std::vector<NodeId> surroundings(const Graph& graph, std::vector<NodeId> near) {
  const auto add = [&](NodeId id) {
    if (id != kNone && near.size() < kMostSubgraphNodes &&
        std::ranges::find(near, id) == near.end())
      near.push_back(id);
  };
  std::size_t next = 0;
  for (int distance = 0; distance < kReach; ++distance) {
    for (const std::size_t end = near.size(); next < end; ++next) {
      const Node& node = graph.nodes[near[next]];
      for (const ValueId input : node.inputs)
        if (input != kNone) add(graph.values[input].producer);
      for (const ValueId output : node.outputs)
        if (output != kNone && graph.consumers(output).size() <= kMostSubgraphNodes)
          std::ranges::for_each(graph.consumers(output), add);
    }
  }
  return near;
}

/// The nodes alone, with these ids from 0 on, after the first rewrite of the first of them.
Result<Graph> begun(const Graph& graph, const std::vector<NodeId>& nodes, std::size_t first_nodes,
                    const Rewrite& first) {
  Graph part = extract(graph, subgraph_of(graph, nodes));
  std::vector<NodeId> own(first_nodes);
  std::iota(own.begin(), own.end(), NodeId{0});
  if (auto done = first.apply(part, own, {}); !done) return Unexpected(done.error());
  return part;
}

/// Of a part that is begun: what the second names, which is all that the first leaves of its nodes, and `others`.
std::vector<NodeId> taken(const Graph& part, std::size_t first_nodes,
                          const std::set<NodeId>& others) {
  std::vector<NodeId> nodes = part.topological_order();
  std::erase_if(nodes, [&](NodeId id) {
    return id >= static_cast<NodeId>(first_nodes) && !others.contains(id);
  });
  return nodes;
}

void add_places(const Graph& graph, const Hardware& hardware, const Place& place,
                const Rewrite& first, const Rewrite& second, std::vector<Place>& places) {
  const std::vector<NodeId> near = surroundings(graph, place.nodes);
  const auto first_nodes = static_cast<NodeId>(place.nodes.size());
  const Result<Graph> part = begun(graph, near, place.nodes.size(), first);
  if (!part) return;
  for (const Place& behind : second.find(*part, hardware)) {
    const std::set<NodeId> all(behind.nodes.begin(), behind.nodes.end());
    const std::set<NodeId> others(all.lower_bound(first_nodes), all.end());
    const bool takes_new = !all.empty() && *all.rbegin() >= static_cast<NodeId>(near.size());
    if (takes_new || behind.nodes != taken(*part, place.nodes.size(), others)) continue;
    Place& both = places.emplace_back(place);
    for (const NodeId id : others) both.nodes.push_back(near[static_cast<std::size_t>(id)]);
    both.choices = behind.choices;
    for (RewriteParams& params : both.choices) params[kFirstNodes] = first_nodes;
    both.expected_share += (1 - place.expected_share) * behind.expected_share;
  }
}

/// Tried on the nodes alone, since the second may refuse what the first has made.
Result<void> apply_both(Graph& graph, const std::vector<NodeId>& nodes, RewriteParams params,
                        const Rewrite& first, const Rewrite& second) {
  const std::int64_t count = params[kFirstNodes];
  if (count < 1 || count > static_cast<std::int64_t>(nodes.size()) ||
      std::set<NodeId>(nodes.begin(), nodes.end()).size() != nodes.size())
    return Unexpected("not the nodes of " + first.kind + " and others, each once");
  params.erase(kFirstNodes);
  const auto first_nodes = static_cast<std::size_t>(count);
  Result<Graph> part = begun(graph, nodes, first_nodes, first);
  if (!part) return Unexpected(part.error());
  std::set<NodeId> others;
  for (std::size_t i = first_nodes; i < nodes.size(); ++i) others.insert(static_cast<NodeId>(i));
  std::vector<NodeId> left = taken(*part, first_nodes, others);
  if (auto done = second.apply(*part, left, params); !done) return done;

  for (NodeId& id : left) id = nodes[static_cast<std::size_t>(id)];
  if (auto done = first.apply(graph, {nodes.begin(), nodes.begin() + count}, {}); !done)
    return done;
  return second.apply(graph, left, params);
}

}  // namespace

Rewrite composed(const Rewrite& first, const Rewrite& second) {
  const auto find = [=](const Graph& graph, const Hardware& hardware) {
    std::vector<Place> places;
    for (const Place& place : first.find(graph, hardware))
      add_places(graph, hardware, place, first, second, places);
    return places;
  };
  const auto apply = [=](Graph& graph, const std::vector<NodeId>& nodes,
                         const RewriteParams& params) {
    return apply_both(graph, nodes, params, first, second);
  };
  return {.kind = first.kind + "+" + second.kind,
          .version = first.version * kVersions + second.version,
          .find = find,
          .apply = apply};
}

}  // namespace aoe::graph
