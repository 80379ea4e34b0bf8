// Graphs inside of graphs: where the body of an If, Loop or Scan lies in a model, what its nodes are called from outside,
// and changing it in its place.
//
//   for_each_graph(model, [&](const Graph& graph, const BodyPath& path) {
//     const std::string at = text_of(model, path);            // "" of the model itself, "loop/" of a body
//     for (NodeId id : graph.topological_order()) note(name_at(at, graph.nodes[id].name));   // "loop/op"
//   });
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "graph/graph.h"

namespace aoe::graph {

/// One step down: a node, and which of its bodies.
struct BodyOf {
  NodeId node = kNone;
  std::size_t body = 0;
  auto operator<=>(const BodyOf&) const = default;
};

/// From the model down; empty: the model itself. Valid as long as the ids in it.
using BodyPath = std::vector<BodyOf>;

/// The model, then the bodies of each of its nodes with the bodies in them; in topological order.
void for_each_graph(const Graph& model,
                    const std::function<void(const Graph& graph, const BodyPath& path)>& visit);

const Graph& graph_at(const Graph& model, std::span<const BodyOf> path);

/// "loop/inner/": the nodes on the way. Empty for the model itself.
std::string text_of(const Graph& model, std::span<const BodyOf> path);

/// What profiles call a node (runtime/om/om_bodies.h): "loop/op". `path` is text_of() the graph it lies in.
std::string name_at(const std::string& path, const std::string& node);

/// Changes one graph of the model. A body is copied before, and all bodies that it lies in: other copies of the model share
/// them. Ids of the model stay valid unless `change` compacts.
void change_at(Graph& model, std::span<const BodyOf> path,
               const std::function<void(Graph& graph)>& change);

}  // namespace aoe::graph
