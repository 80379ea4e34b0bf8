// recompute: an elementwise result that several nodes read is computed by each of them anew, in its
// own epilogue, and never stored: a walk over memory less for some arithmetic more. Passes fuse
// elementwise nodes only where one node reads them.
//
// A place names the node, then all its readers: other elementwise nodes, and convolutions and
// products that read it in their epilogues.
#include <algorithm>
#include <map>
#include <optional>

#include "graph/elementwise_group.h"
#include "graph/rewrite.h"
#include "graph/rewrite_plan.h"

namespace aoe::graph {
namespace {

using reference::EpilogueStep;
using reference::Operand;

/// What goes away of the place's time, at a guess.
constexpr double kExpectedShare = 0.1;

/// The node as a FusedElementwise; nothing when it is not elementwise.
std::optional<Node> as_fused(const Graph& graph, NodeId id) {
  const Node& node = graph.nodes[id];
  if (node.is_dead || node.outputs.size() != 1 || node.outputs[0] == kNone) return std::nullopt;
  if (node.op.type == "FusedElementwise") return node;
  if (!is_step(graph, id, shape_of(graph, node.outputs[0])) || is_quantisation(node) ||
      std::ranges::find(node.inputs, kNone) != node.inputs.end())
    return std::nullopt;
  EpilogueStep step{.type = node.op.type, .version = node.op.version, .attrs = node.op.attrs};
  for (std::size_t i = 0; i < node.inputs.size(); ++i)
    step.operands.push_back({Operand::Kind::kInput, static_cast<int>(i)});
  Node fused = node;
  fused.op = {.type = "FusedElementwise", .epilogue = {std::move(step)}};
  return fused;
}

/// The reader as a node with an epilogue that can take steps in front; nothing when it cannot.
std::optional<Node> as_taker(const Graph& graph, NodeId id, ValueId value, std::size_t steps) {
  auto taker = as_fused(graph, id);
  if (!taker) {
    const Node& node = graph.nodes[id];
    const bool has_epilogue = node.op.type == "Conv2D" || node.op.type == "MatMulV2" ||
                              node.op.type == "Gemm" || node.op.type == "Conv2DTranspose";
    if (node.is_dead || !has_epilogue || node.op.epilogue.empty() || node.outputs.size() != 1)
      return std::nullopt;
    const auto own = node.inputs.begin() + static_cast<long>(anchor_input_count(node));
    if (std::find(node.inputs.begin(), own, value) != own) return std::nullopt;
    taker = node;
  }
  if (shape_of(graph, taker->outputs[0]) != shape_of(graph, value) ||
      taker->op.epilogue.size() + steps > kMostEpilogueSteps)
    return std::nullopt;
  return taker;
}

/// `reader` with `made`'s steps in front of its own, in place of its operand `value`.
Node inlined(const Node& made, ValueId value, const Node& reader) {
  Node node = reader;
  node.inputs.clear();
  std::map<ValueId, int> index;
  const auto anchor_inputs = reader.op.type == "FusedElementwise" ? 0 : anchor_input_count(reader);
  for (std::size_t i = 0; i < anchor_inputs; ++i) node.inputs.push_back(reader.inputs[i]);
  const auto input = [&](ValueId id) {
    const auto [at, is_new] = index.try_emplace(id, static_cast<int>(node.inputs.size()));
    if (is_new) node.inputs.push_back(id);
    return Operand{Operand::Kind::kInput, at->second};
  };
  const auto count = static_cast<int>(made.op.epilogue.size());
  node.op.epilogue = made.op.epilogue;
  for (EpilogueStep& step : node.op.epilogue)
    for (Operand& operand : step.operands)
      if (operand.kind == Operand::Kind::kInput) operand = input(made.inputs[operand.index]);
  for (EpilogueStep step : reader.op.epilogue) {
    for (Operand& operand : step.operands) {
      if (operand.kind == Operand::Kind::kStep) operand.index += count;
      if (operand.kind != Operand::Kind::kInput) continue;
      const ValueId read = reader.inputs[operand.index];
      const bool is_own = operand.index < static_cast<int>(anchor_inputs);
      if (read == value)
        operand = {Operand::Kind::kStep, count - 1};
      else if (!is_own)
        operand = input(read);
    }
    node.op.epilogue.push_back(std::move(step));
  }
  for (const std::string& origin : made.origins)
    if (std::ranges::find(node.origins, origin) == node.origins.end())
      node.origins.push_back(origin);
  return node;
}

/// Nothing when a reader cannot take the steps, or only one node reads them.
std::optional<std::vector<NodeId>> takers(const Graph& graph, NodeId id) {
  const auto made = as_fused(graph, id);
  if (!made || graph.is_output(made->outputs[0])) return std::nullopt;
  const ValueId value = made->outputs[0];
  std::vector<NodeId> readers = graph.consumers(value);
  const bool can_all_take = std::ranges::all_of(readers, [&](NodeId reader) {
    return as_taker(graph, reader, value, made->op.epilogue.size()).has_value();
  });
  return readers.size() > 1 && can_all_take ? std::optional(std::move(readers)) : std::nullopt;
}

std::vector<Place> find(const Graph& graph) {
  std::vector<Place> places;
  for (const NodeId id : graph.topological_order()) {
    const auto readers = takers(graph, id);
    if (!readers) continue;
    Place place{.nodes = {id}, .expected_share = kExpectedShare};
    place.nodes.insert(place.nodes.end(), readers->begin(), readers->end());
    places.push_back(std::move(place));
  }
  return places;
}

Result<void> apply(Graph& graph, const std::vector<NodeId>& nodes, const RewriteParams&) {
  if (nodes.empty()) return Unexpected("names no node");
  auto readers = takers(graph, nodes[0]);
  std::vector<NodeId> named(nodes.begin() + 1, nodes.end());
  std::ranges::sort(named);
  if (!readers || *readers != named)
    return Unexpected("no elementwise result that these nodes could compute themselves");
  const Node made = *as_fused(graph, nodes[0]);
  const ValueId value = made.outputs[0];
  for (const NodeId reader : *readers)
    graph.nodes[reader] =
        inlined(made, value, *as_taker(graph, reader, value, made.op.epilogue.size()));
  graph.remove_node(nodes[0]);
  return {};
}

}  // namespace

void register_recompute(RewriteRegistry& registry) {
  registry.add({.kind = "recompute", .version = 1, .find = find, .apply = apply});
}

}  // namespace aoe::graph
