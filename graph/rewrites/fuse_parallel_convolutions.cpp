// fuse_parallel_convolutions: convolutions that slide the same window over the same input become
// one, whose result is split by channels (the 1x1 branches of Inception, the heads of a detector).
// One walk over the input instead of several, and few output channels no longer run alone.
#include <algorithm>

#include "graph/analysis/parallel_nodes.h"
#include "graph/rewrite.h"
#include "graph/subgraphs/rewrite_plan.h"

namespace aoe::graph {
namespace {

/// Channels of the widest vector: parts that end elsewhere cannot be read in place in NC1HWC0, so
/// they stand last.
constexpr std::int64_t kLanes = 16;

std::int64_t out_channels(const Graph& graph, const Node& node) {
  return shape_of(graph, node.inputs[1])[0];
}

/// A dense float32 convolution with constant weights whose epilogue treats all channels alike.
bool is_plain_convolution(const Graph& graph, const Node& node) {
  const reference::OpCall& op = reference::anchor(node.op);
  if (node.is_dead || op.type != "Conv2D" || node.outputs.size() != 1 || node.inputs.size() < 2 ||
      op.attrs.get_int("group", 1) != 1)
    return false;
  const Shape& out = shape_of(graph, node.outputs[0]);
  if (out.size() != 4 || !is_static(out) || !is_static(shape_of(graph, node.inputs[0])))
    return false;
  for (std::size_t i = 1; i < node.inputs.size(); ++i) {
    if (node.inputs[i] == kNone) {
      if (i < anchor_input_count(node)) return false;
      continue;
    }
    const Value& value = graph.values[node.inputs[i]];
    if (!value.constant || value.desc.dtype != DataType::kFloat) return false;
    if (i >= anchor_input_count(node) && element_count(value.desc.shape) != 1) return false;
  }
  return true;
}

/// Whether both do the same to their input but for the weights.
bool is_parallel(const Graph& graph, const Node& a, const Node& b) {
  if (!(a.op == b.op) || a.inputs.size() != b.inputs.size() || a.inputs[0] != b.inputs[0])
    return false;
  const Shape &u = shape_of(graph, a.inputs[1]), &v = shape_of(graph, b.inputs[1]);
  if (!std::equal(u.begin() + 1, u.end(), v.begin() + 1, v.end())) return false;
  for (std::size_t i = anchor_input_count(a); i < a.inputs.size(); ++i) {
    if ((a.inputs[i] == kNone) != (b.inputs[i] == kNone)) return false;
    if (a.inputs[i] != kNone &&
        !are_equal(*graph.values[a.inputs[i]].constant, *graph.values[b.inputs[i]].constant))
      return false;
  }
  return true;
}

std::vector<Place> places_of(const Graph& graph, std::vector<NodeId> group) {
  std::ranges::stable_sort(
      group, {}, [&](NodeId id) { return out_channels(graph, graph.nodes[id]) % kLanes != 0; });
  std::vector<Place> places;
  if (group.size() > kMostParallel) return places;
  places.push_back({.nodes = group});
  for (std::size_t i = 0; group.size() > 2 && i < group.size(); ++i)
    for (std::size_t k = i + 1; k < group.size(); ++k)
      places.push_back({.nodes = {group[i], group[k]}});
  return places;
}

std::vector<Place> find_fuse_parallel_convolutions(const Graph& graph) {
  const auto groups = parallel_groups(
      graph, [&](const Node& node) { return is_plain_convolution(graph, node); },
      [&](const std::vector<NodeId>& group) {
        return is_parallel(graph, graph.nodes[group.front()], graph.nodes[group.back()]);
      });
  std::vector<Place> places;
  for (const std::vector<NodeId>& group : groups)
    for (Place& place : places_of(graph, group)) places.push_back(std::move(place));
  return places;
}

Result<void> apply_fuse_parallel_convolutions(Graph& graph, const std::vector<NodeId>& nodes,
                                              const RewriteParams&) {
  if (nodes.size() < kFewestParallel) return Unexpected("one convolution has nothing to join");
  for (const NodeId id : nodes) {
    if (!is_plain_convolution(graph, graph.nodes[id])) return Unexpected("no plain convolution");
    if (!is_parallel(graph, graph.nodes[nodes[0]], graph.nodes[id]))
      return Unexpected("the convolutions differ in more than their weights");
  }
  Node fused = graph.nodes[nodes[0]];
  Node split{.name = fused.name + "_split", .op = call_of("SplitV")};
  std::vector<std::int64_t> sizes;
  for (const NodeId id : nodes) {
    sizes.push_back(out_channels(graph, graph.nodes[id]));
    split.outputs.push_back(graph.nodes[id].outputs[0]);
  }
  for (std::size_t i = 1; i < anchor_input_count(fused); ++i)
    fused.inputs[i] = joined_constants(graph, nodes, i, 0);
  TensorDesc desc = graph.values[fused.outputs[0]].desc;
  desc.shape[1] = 0;
  for (const std::int64_t size : sizes) desc.shape[1] += size;
  const ValueId whole =
      add_intermediate(graph, graph.values[fused.outputs[0]].name + "_joined", desc);
  fused.outputs = {whole};
  split.op.attrs.set("axis", std::int64_t{1});
  split.inputs = {whole, add_ints(graph, split.name + "_sizes", sizes)};
  replace_nodes(graph, nodes, std::move(fused));
  graph.add_node(std::move(split));
  return {};
}

}  // namespace

void register_fuse_parallel_convolutions(RewriteRegistry& registry) {
  registry.add({.kind = "fuse_parallel_convolutions",
                .version = 1,
                .find = find_fuse_parallel_convolutions,
                .apply = apply_fuse_parallel_convolutions});
}

}  // namespace aoe::graph
