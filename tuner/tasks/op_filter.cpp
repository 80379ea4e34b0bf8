// Matching operators by name and type.
#include "tuner/tasks/op_filter.h"

#include <algorithm>

#include "base/error.h"
#include "base/gear_names.h"
#include "base/log.h"
#include "base/near_names.h"
#include "graph/bodies.h"
#include "reference/op.h"

namespace aoe::tuner {
namespace {

Error no_such(const std::string& kind, const std::string& given, const std::string& where,
              const std::vector<std::string>& near) {
  const std::string advice = did_you_mean(near);
  return {ExitCode::kUsage,
          "the model has no operator of " + kind + " '" + given + "' after fusion", where,
          advice.empty() ? "aoe_run --profile lists the operators of an om" : advice};
}

std::vector<std::string> node_names(const graph::Graph& graph) {
  std::set<std::string> names;
  graph::for_each_graph(graph, [&](const graph::Graph& each, const graph::BodyPath& path) {
    const std::string at = graph::text_of(graph, path);
    for (const graph::NodeId id : each.topological_order()) {
      const std::string name = graph::name_at(at, each.nodes[id].name);
      names.emplace(without_gear(name));
      names.insert(name);
    }
  });
  return {names.begin(), names.end()};
}

std::set<std::string> types_in(const graph::Graph& graph) {
  std::set<std::string> types;
  graph::for_each_graph(graph, [&](const graph::Graph& each, const graph::BodyPath&) {
    for (const graph::NodeId id : each.topological_order())
      for (std::string& type : reference::op_types(each.nodes[id].op))
        types.insert(std::move(type));
  });
  return types;
}

/// "Conv" and other names of ONNX: what they are called here.
std::vector<std::string> near_types(const std::string& given) {
  if (const auto* def = reference::ops().find_onnx("", given)) return {def->type};
  std::vector<std::string> known;
  for (const reference::OpDef* def : reference::ops().all()) known.push_back(def->type);
  return near_names(given, known);
}

}  // namespace

bool OpFilter::passes(std::string_view node, const std::vector<std::string>& op_types) const {
  if (empty()) return true;
  return names.contains(std::string(node)) || names.contains(std::string(without_gear(node))) ||
         std::ranges::any_of(op_types,
                             [&](const std::string& type) { return types.contains(type); });
}

void check_filter(const OpFilter& filter, const graph::Graph& graph, const std::string& where) {
  const std::vector<std::string> names = node_names(graph);
  for (const std::string& name : filter.names)
    if (!std::ranges::binary_search(names, name))
      throw no_such("the name", name, where, near_names(name, names));
  const std::set<std::string> types = types_in(graph);
  for (const std::string& type : filter.types) {
    if (types.contains(type)) continue;
    if (reference::ops().find(type) == nullptr)
      throw no_such("the type", type, where, near_types(type));
    logger("aoe")->warn("{}: the model has no operator of the type '{}'", where, type);
  }
}

}  // namespace aoe::tuner
