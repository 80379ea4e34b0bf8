// fuse_chain: convolutions and poolings behind each other become one FusedChain, which runs row by row: what passes
// between them stays in the cache of its core and never becomes an image in memory. For stems (convolution and pooling)
// and for pointwise and depthwise convolutions of large images. Parameter `format`, as of keep_format: the Format around
// the chain; without it, the Format is chosen as for other ops.
#include <algorithm>
#include <map>

#include "graph/chain_choices.h"
#include "graph/node_rows.h"
#include "graph/rewrite.h"
#include "graph/rewrite_plan.h"

namespace aoe::graph {
namespace {

using reference::EpilogueStep;
using reference::Operand;

constexpr const char* kFormat = "format";
constexpr std::size_t kMostOps = 4;
constexpr std::int64_t kShareOfL2 = 8;  ///< an image of an eighth of it stays there as it is

bool is_image(const Graph& graph, ValueId value) {
  const TensorDesc& desc = graph.values[value].desc;
  return desc.dtype == DataType::kFloat && desc.shape.size() == 4 && is_static(desc.shape);
}

/// Weights and bias are constants; what the epilogue reads is not looked at: operands may be any value.
bool is_member(const Graph& graph, const Node& node) {
  const bool is_pooling = reference::is_pooling(node.op.type) && node.op.epilogue.empty();
  if (node.is_dead || node.outputs.size() != 1 || (node.op.type != "Conv2D" && !is_pooling) ||
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
  if (node.op.type != "Conv2D") return outputs;
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

/// All rows of two to four members.
std::vector<Place> find(const Graph& graph, const Hardware& hardware) {
  std::vector<Place> places;
  for_each_row(graph, kMostOps, [&](const std::vector<NodeId>& nodes) {
    if (!is_chain(graph, nodes)) return false;
    places.push_back({.nodes = nodes,
                      .choices = chain_choices(),
                      .expected_share = expected_share(graph, nodes, hardware)});
    return true;
  });
  return places;
}

class ChainWriter {
 public:
  ChainWriter() { chain_.op.type = "FusedChain"; }

  void add(const Node& node) {
    EpilogueStep anchor{.type = node.op.type, .version = node.op.version, .attrs = node.op.attrs};
    for (std::size_t i = 0; i < anchor_input_count(node); ++i)
      anchor.operands.push_back(operand(node.inputs[i]));
    const int at = static_cast<int>(chain_.op.epilogue.size());
    chain_.op.epilogue.push_back(std::move(anchor));
    for (EpilogueStep step : node.op.epilogue) {
      for (Operand& each : step.operands) {
        if (each.kind == Operand::Kind::kInput)
          each = operand(node.inputs[static_cast<std::size_t>(each.index)]);
        else
          each = {Operand::Kind::kStep,
                  each.kind == Operand::Kind::kAnchor ? at : at + 1 + each.index};
      }
      chain_.op.epilogue.push_back(std::move(step));
    }
    made_[node.outputs[0]] = static_cast<int>(chain_.op.epilogue.size()) - 1;
    chain_.outputs = node.outputs;
  }

  Node& chain() { return chain_; }

 private:
  Operand operand(ValueId value) {
    if (const auto made = made_.find(value); made != made_.end())
      return {Operand::Kind::kStep, made->second};
    const auto at = std::ranges::find(chain_.inputs, value);
    const auto index = static_cast<int>(at - chain_.inputs.begin());
    if (at == chain_.inputs.end()) chain_.inputs.push_back(value);
    return {Operand::Kind::kInput, index};
  }

  Node chain_;
  std::map<ValueId, int> made_;  ///< steps by the value that was theirs
};

Result<void> apply(Graph& graph, const std::vector<NodeId>& nodes, const RewriteParams& params) {
  if (!is_chain(graph, nodes)) return Unexpected("no convolutions and poolings behind each other");
  ChainWriter writer;
  for (const NodeId id : nodes) writer.add(graph.nodes[id]);
  if (const auto given = params.find(kFormat); given != params.end()) {
    const auto format = static_cast<Format>(given->second);
    if (format != Format::kNHWC && format != Format::kNC1HWC0)
      return Unexpected("format " + std::to_string(given->second) + " is none of a chain");
    writer.chain().kept_format = format;
  }
  replace_nodes(graph, nodes, std::move(writer.chain()));
  return {};
}

}  // namespace

std::vector<RewriteParams> chain_choices() {
  return {{},
          {{kFormat, static_cast<std::int64_t>(Format::kNHWC)}},
          {{kFormat, static_cast<std::int64_t>(Format::kNC1HWC0)}}};
}

void register_fuse_chain(RewriteRegistry& registry) {
  registry.add({.kind = "fuse_chain", .version = 1, .find = find, .apply = apply});
}

}  // namespace aoe::graph
