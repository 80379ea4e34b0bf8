// absorb_channel_shuffle: the channel shuffle of ShuffleNet (Reshape, Transpose, Reshape) between a
// producer and depthwise + grouped convolutions goes away: the depthwise convolution works on the
// channels where they are, with its weights in their order, and the grouped one behind it finds
// its channels while it reads (attribute input_shuffle).
#include <algorithm>
#include <optional>

#include "graph/rewrite.h"
#include "graph/subgraphs/rewrite_plan.h"

namespace aoe::graph {
namespace {

struct Match {
  std::int64_t groups = 1;  ///< of the shuffle
  std::int64_t channels = 0;
};

bool is_depthwise(const Graph& graph, const Node& node, std::int64_t channels) {
  if (reference::anchor(node.op).attrs.get_int("group", 1) != channels) return false;
  const Shape& weight = shape_of(graph, node.inputs[1]);
  return weight.size() == 4 && weight[0] == channels && weight[1] == 1;
}

/// Inputs behind the first are constants, and what the epilogue reads of them is the same for all
/// channels.
bool has_plain_operands(const Graph& graph, const Node& node) {
  for (std::size_t i = 1; i < node.inputs.size(); ++i) {
    if (node.inputs[i] == kNone) continue;
    const Value& value = graph.values[node.inputs[i]];
    if (!value.constant || value.desc.dtype != DataType::kFloat) return false;
    if (i >= anchor_input_count(node) && element_count(value.desc.shape) != 1) return false;
  }
  return true;
}

/// `nodes`: Reshape, Transpose, Reshape, depthwise Conv2D, Conv2D.
std::optional<Match> match(const Graph& graph, const std::vector<NodeId>& nodes) {
  if (nodes.size() != 5) return std::nullopt;
  constexpr const char* kTypes[] = {"Reshape", "Transpose", "Reshape", "Conv2D", "Conv2D"};
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const Node& node = graph.nodes[nodes[i]];
    const reference::OpCall& op = i < 3 ? node.op : reference::anchor(node.op);
    if (node.is_dead || op.type != kTypes[i] || node.outputs.size() != 1) return std::nullopt;
    if (i > 0 && node.inputs[0] != graph.nodes[nodes[i - 1]].outputs[0]) return std::nullopt;
    if (i < 4 && sole_consumer(graph, node.outputs[0]) != nodes[i + 1]) return std::nullopt;
  }
  const Shape& in = shape_of(graph, graph.nodes[nodes[0]].inputs[0]);
  const Shape& split = shape_of(graph, graph.nodes[nodes[0]].outputs[0]);
  if (in.size() != 4 || split.size() != 5 || !is_static(in) || !is_static(split) ||
      split[0] != in[0] || split[1] * split[2] != in[1] || split[3] != in[2] || split[4] != in[3] ||
      shape_of(graph, graph.nodes[nodes[2]].outputs[0]) != in)
    return std::nullopt;
  const std::vector<std::int64_t> swaps_groups = {0, 2, 1, 3, 4};
  if (graph.nodes[nodes[1]].op.attrs.get_ints("perm") != swaps_groups) return std::nullopt;
  const Node &depthwise = graph.nodes[nodes[3]], &grouped = graph.nodes[nodes[4]];
  if (!is_depthwise(graph, depthwise, in[1]) || !has_plain_operands(graph, depthwise))
    return std::nullopt;
  if (reference::anchor(grouped.op).attrs.get_int("input_shuffle", 1) != 1 ||
      std::ranges::count(grouped.inputs, grouped.inputs[0]) != 1 ||
      shape_of(graph, grouped.inputs[1]).size() != 4 || shape_of(graph, grouped.inputs[1])[1] < 2)
    return std::nullopt;
  return Match{split[1], in[1]};
}

/// The rows of a constant (weights or bias of each channel) in the order before the shuffle.
ValueId unshuffled(Graph& graph, ValueId value, const Match& shuffle) {
  const Shape shape = shape_of(graph, value);
  const std::vector<double> from = to_doubles(*graph.values[value].constant);
  std::vector<double> to(from.size());
  const std::size_t row = from.size() / static_cast<std::size_t>(shuffle.channels);
  const std::int64_t per_group = shuffle.channels / shuffle.groups;
  for (std::int64_t c = 0; c < shuffle.channels; ++c) {
    const std::int64_t before = c % shuffle.groups * per_group + c / shuffle.groups;
    std::copy_n(from.begin() + static_cast<long>(c * static_cast<std::int64_t>(row)), row,
                to.begin() + static_cast<long>(before * static_cast<std::int64_t>(row)));
  }
  return add_floats(graph, graph.values[value].name + "_unshuffled", shape, to);
}

std::vector<Place> find_absorb_channel_shuffle(const Graph& graph) {
  std::vector<Place> places;
  for (const NodeId first : graph.topological_order()) {
    std::vector<NodeId> nodes = {first};
    while (nodes.size() < 5 && nodes.back() != kNone && !graph.nodes[nodes.back()].outputs.empty())
      nodes.push_back(sole_consumer(graph, graph.nodes[nodes.back()].outputs[0]));
    if (nodes.back() != kNone && match(graph, nodes))
      places.push_back({.nodes = std::move(nodes), .expected_share = 0.3});
  }
  return places;
}

Result<void> apply_absorb_channel_shuffle(Graph& graph, const std::vector<NodeId>& nodes,
                                          const RewriteParams&) {
  const auto shuffle = match(graph, nodes);
  if (!shuffle) return Unexpected("no channel shuffle before a depthwise convolution");
  const ValueId input = graph.nodes[nodes[0]].inputs[0];
  for (std::size_t i = 0; i < 3; ++i) graph.remove_node(nodes[i]);
  graph.edit(nodes[3])->inputs[0] = input;
  const std::size_t constants = anchor_input_count(graph.nodes[nodes[3]]);
  for (std::size_t i = 1; i < constants; ++i) {
    const ValueId value = graph.nodes[nodes[3]].inputs[i];
    if (value != kNone) graph.edit(nodes[3])->inputs[i] = unshuffled(graph, value, *shuffle);
  }
  reference::edit_anchor(graph.edit(nodes[4])->op).attrs.set("input_shuffle", shuffle->groups);
  return {};
}

}  // namespace

void register_absorb_channel_shuffle(RewriteRegistry& registry) {
  registry.add({.kind = "absorb_channel_shuffle",
                .version = 1,
                .find = find_absorb_channel_shuffle,
                .apply = apply_absorb_channel_shuffle,
                .then = {"fuse_chain"}});
}

}  // namespace aoe::graph
