// Walking down paths of bodies. Tested by tests/graph/bodies_test.cpp.
#include "graph/bodies.h"

#include <memory>
#include <utility>

namespace aoe::graph {
namespace {

using Visit = std::function<void(const Graph&, const BodyPath&)>;

void visit_below(const Graph& graph, BodyPath& path, const Visit& visit) {
  visit(graph, path);
  for (const NodeId id : graph.topological_order()) {
    const auto& bodies = graph.nodes[id].bodies;
    for (std::size_t b = 0; b < bodies.size(); ++b) {
      path.push_back({id, b});
      visit_below(*bodies[b], path, visit);
      path.pop_back();
    }
  }
}

}  // namespace

void for_each_graph(const Graph& model, const Visit& visit) {
  BodyPath path;
  visit_below(model, path, visit);
}

const Graph& graph_at(const Graph& model, std::span<const BodyOf> path) {
  const Graph* graph = &model;
  for (const BodyOf& step : path) graph = graph->nodes[step.node].bodies.at(step.body).get();
  return *graph;
}

std::string text_of(const Graph& model, std::span<const BodyOf> path) {
  std::string text;
  const Graph* graph = &model;
  for (const BodyOf& step : path) {
    text = name_at(text, graph->nodes[step.node].name) + "/";
    graph = graph->nodes[step.node].bodies.at(step.body).get();
  }
  return text;
}

std::string name_at(const std::string& path, const std::string& node) {
  return node.starts_with(path) ? node : path + node;
}

void change_at(Graph& model, std::span<const BodyOf> path,
               const std::function<void(Graph& graph)>& change) {
  if (path.empty()) return change(model);
  const auto [node, body] = path.front();
  auto bodies = model.nodes[node].bodies;
  Graph own = *bodies.at(body);
  change_at(own, path.subspan(1), change);
  bodies[body] = std::make_shared<const Graph>(std::move(own));
  model.edit(node)->bodies = std::move(bodies);
}

}  // namespace aoe::graph
