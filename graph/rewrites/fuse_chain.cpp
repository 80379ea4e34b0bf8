// fuse_chain: convolutions and poolings behind each other become one node, which runs row by row: what passes
// between them stays in the cache of its core and never becomes an image in memory. For stems (convolution and pooling)
// and for pointwise and depthwise convolutions of large images. Parameter `format`, as of keep_format: the Format around
// the chain; without it, the Format is chosen as for other ops.
#include <algorithm>

#include "graph/analysis/node_rows.h"
#include "graph/rewrite.h"
#include "graph/subgraphs/rewrite_plan.h"

namespace aoe::graph {
namespace {

constexpr const char* kChainFormat = "format";
constexpr std::size_t kMostOps = 4;
constexpr std::int64_t kShareOfL2 = 8;  ///< an image of an eighth of it stays there as it is

bool is_image(const Graph& graph, ValueId value) {
  const TensorDesc& desc = graph.values[value].desc;
  return desc.dtype == DataType::kFloat && desc.shape.size() == 4 && is_static(desc.shape);
}

bool is_convolution(const Node& node) {
  return reference::anchor(node.op).type == "Conv2D";
}

/// Weights and bias are constants; what the epilogue reads is not looked at: operands may be any value.
bool is_member(const Graph& graph, const Node& node) {
  if (node.is_dead || node.outputs.size() != 1 ||
      (!is_convolution(node) && !reference::is_pooling(node.op.type)) ||
      !is_image(graph, node.inputs[0]) || !is_image(graph, node.outputs[0]))
    return false;
  for (std::size_t i = 0; i < node.inputs.size(); ++i) {
    if (node.inputs[i] == kNone) return false;
    if (i > 0 && i < anchor_input_count(node) && !graph.values[node.inputs[i]].constant)
      return false;
  }
  return true;
}

bool is_chain(const Graph& graph, const std::vector<NodeId>& nodes) {
  return nodes.size() >= 2 && is_row(graph, nodes) &&
         std::ranges::all_of(nodes, [&](NodeId id) { return is_member(graph, graph.nodes[id]); });
}

/// What an op does for each element that it reads: multiply-adds by output element, scaled by the images' sizes.
double products_of(const Graph& graph, const Node& node) {
  const auto outputs = static_cast<double>(element_count(shape_of(graph, node.outputs[0])));
  if (!is_convolution(node)) return outputs;
  const Shape& weights = shape_of(graph, node.inputs[1]);
  return outputs * static_cast<double>(weights[1] * weights[2] * weights[3]);
}

double expected_share(const Graph& graph, const std::vector<NodeId>& nodes,
                      const Hardware& hardware) {
  double products = 0, between = 0;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const Node& node = graph.nodes[nodes[i]];
    products += products_of(graph, node);
    if (i == 0) continue;
    const std::int64_t elements = element_count(shape_of(graph, node.inputs[0]));
    if (elements * 4 * kShareOfL2 < hardware.l2_bytes) return 0;
    between += static_cast<double>(elements);
  }
  const double saved = between * hardware.products_per_element;
  const double share = saved / (saved + products);
  return share < 0.03 ? 0 : share / 2;
}

/// The Format around the chain: left to the compiler, NHWC, NC1HWC0.
std::vector<RewriteParams> choices() {
  return {{},
          {{kChainFormat, static_cast<std::int64_t>(Format::kNHWC)}},
          {{kChainFormat, static_cast<std::int64_t>(Format::kNC1HWC0)}}};
}

/// All rows of two to four members.
std::vector<Place> find_fuse_chain(const Graph& graph, const Hardware& hardware) {
  std::vector<Place> places;
  for_each_row(graph, kMostOps, [&](const std::vector<NodeId>& nodes) {
    if (!is_chain(graph, nodes)) return false;
    places.push_back({.nodes = nodes,
                      .choices = choices(),
                      .expected_share = expected_share(graph, nodes, hardware)});
    return true;
  });
  return places;
}

Result<void> apply_fuse_chain(Graph& graph, const std::vector<NodeId>& nodes,
                              const RewriteParams& params) {
  if (!is_chain(graph, nodes)) return Unexpected("no convolutions and poolings behind each other");
  Node chain = fused_node(graph, nodes, false);
  if (const auto given = params.find(kChainFormat); given != params.end()) {
    const auto format = static_cast<Format>(given->second);
    if (format != Format::kNHWC && format != Format::kNC1HWC0)
      return Unexpected("format " + std::to_string(given->second) + " is none of a chain");
    chain.kept_format = format;
  }
  replace_nodes(graph, nodes, std::move(chain));
  return {};
}

}  // namespace

void register_fuse_chain(RewriteRegistry& registry) {
  registry.add(
      {.kind = "fuse_chain", .version = 1, .find = find_fuse_chain, .apply = apply_fuse_chain});
}

}  // namespace aoe::graph
