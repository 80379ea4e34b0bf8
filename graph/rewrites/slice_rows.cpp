// slice_rows: a chain of convolutions and poolings is carried out strip by strip: all its ops on
// the first rows of the image, then all on the next ones, so that what passes between them stays in
// the cache. Rows that two strips need are computed twice. In NHWC neither cutting the input nor
// joining the strips copies anything (slice_in_place, concat_in_place).
#include <algorithm>
#include <map>
#include <optional>
#include <tuple>

#include "graph/node_rows.h"
#include "graph/rewrite.h"
#include "graph/rewrite_plan.h"

namespace aoe::graph {
namespace {

constexpr std::int64_t kLargeBytes = 768 << 10;  ///< smaller ones stay in L2 as they are
constexpr std::int64_t kStripBytes = 512 << 10;  ///< of the largest value between two ops
constexpr std::size_t kMostOps = 4;
constexpr std::int64_t kMostStrips = 32;

/// A window along the rows.
struct RowWindow {
  std::int64_t kernel = 1, stride = 1, dilation = 1, pad_top = 0, pad_bottom = 0;
};

std::int64_t first_or(const std::vector<std::int64_t>& list, std::size_t i, std::int64_t fallback) {
  return i < list.size() ? list[i] : fallback;
}

bool is_image(const Graph& graph, ValueId value) {
  const TensorDesc& desc = graph.values[value].desc;
  return desc.dtype == DataType::kFloat && desc.shape.size() == 4 && is_static(desc.shape) &&
         desc.shape[0] == 1;
}

/// nullopt: not an op that can be cut into rows.
std::optional<RowWindow> window_of(const Graph& graph, const Node& node) {
  const bool is_convolution = node.op.type == "Conv2D", is_pooling = node.op.type == "MaxPoolV3";
  if (node.is_dead || (!is_convolution && !is_pooling) || node.outputs.size() != 1 ||
      !is_image(graph, node.inputs[0]) || !is_image(graph, node.outputs[0]))
    return std::nullopt;
  const reference::Attrs& attrs = node.op.attrs;
  const std::string auto_pad = attrs.get_string("auto_pad", "NOTSET");
  if (auto_pad != "NOTSET" && auto_pad != "VALID") return std::nullopt;
  RowWindow window;
  if (is_convolution && shape_of(graph, node.inputs[1]).size() != 4) return std::nullopt;
  window.kernel = is_convolution ? shape_of(graph, node.inputs[1])[2]
                                 : first_or(attrs.get_ints("kernel_shape"), 0, 1);
  window.stride = first_or(attrs.get_ints("strides"), 0, 1);
  window.dilation = first_or(attrs.get_ints("dilations"), 0, 1);
  const auto pads = attrs.get_ints("pads");
  window.pad_top = first_or(pads, 0, 0);
  window.pad_bottom = first_or(pads, 2, 0);
  return window;
}

/// An operand of the epilogue is the same for all rows, or an image of its own to be cut.
bool has_cuttable_operands(const Graph& graph, const Node& node) {
  const Shape& out = shape_of(graph, node.outputs[0]);
  for (std::size_t i = 1; i < node.inputs.size(); ++i) {
    if (node.inputs[i] == kNone) continue;
    const Value& value = graph.values[node.inputs[i]];
    const Shape& shape = value.desc.shape;
    if (i < anchor_input_count(node)) {
      if (!value.constant) return false;
    } else if (value.constant) {
      if (element_count(shape) != 1 && (shape.size() < 2 || shape[shape.size() - 2] != 1))
        return false;
    } else if (shape != out) {
      return false;
    }
  }
  return true;
}

bool is_chain(const Graph& graph, const std::vector<NodeId>& nodes) {
  return !nodes.empty() && is_row(graph, nodes) && std::ranges::all_of(nodes, [&](NodeId id) {
    const Node& node = graph.nodes[id];
    return window_of(graph, node) && has_cuttable_operands(graph, node);
  });
}

std::int64_t bytes_of(const Graph& graph, ValueId value) {
  return 4 * element_count(shape_of(graph, value));
}

std::int64_t out_rows(const Graph& graph, NodeId id) {
  return shape_of(graph, graph.nodes[id].outputs[0])[2];
}

/// Numbers of strips around the one that makes the largest value between ops fit.
std::vector<RewriteParams> choices_of(const Graph& graph, const std::vector<NodeId>& nodes) {
  std::int64_t largest = 0;
  for (std::size_t i = 0; i + 1 < nodes.size(); ++i)
    largest = std::max(largest, bytes_of(graph, graph.nodes[nodes[i]].outputs[0]));
  const std::int64_t fitting = (largest + kStripBytes - 1) / kStripBytes;
  const std::int64_t most = std::min(kMostStrips, out_rows(graph, nodes.back()) / 2);
  std::vector<RewriteParams> choices;
  for (const std::int64_t strips : {fitting, 2 * fitting, (fitting + 1) / 2}) {
    const std::int64_t n = std::clamp<std::int64_t>(strips, 2, std::max<std::int64_t>(most, 2));
    if (std::ranges::find(choices, RewriteParams{{"strips", n}}) == choices.end())
      choices.push_back({{"strips", n}});
  }
  return choices;
}

/// Every row of two to four ops; worth a try where large values pass between all of them.
std::vector<Place> find(const Graph& graph) {
  std::vector<Place> places;
  for_each_row(graph, kMostOps, [&](const std::vector<NodeId>& nodes) {
    if (!is_chain(graph, nodes) || out_rows(graph, nodes.back()) < 2) return false;
    const bool are_large = std::all_of(nodes.begin(), nodes.end() - 1, [&](NodeId id) {
      return bytes_of(graph, graph.nodes[id].outputs[0]) >= kLargeBytes;
    });
    places.push_back({.nodes = nodes,
                      .choices = choices_of(graph, nodes),
                      .expected_share = are_large ? 0.1 : 0});
    return true;
  });
  return places;
}

/// Rows [begin, end).
struct Rows {
  std::int64_t begin = 0, end = 0;
};

class StripWriter {
 public:
  StripWriter(Graph& graph, const std::vector<NodeId>& chain) : graph_(graph) {
    for (const NodeId id : chain) {
      chain_.push_back(graph.nodes[id]);
      windows_.push_back(*window_of(graph, graph.nodes[id]));
    }
  }

  /// All ops for these rows of the last one's output; returns that strip.
  ValueId write(std::int64_t strip, Rows rows) {
    suffix_ = "_strip" + std::to_string(strip);
    std::vector<Rows> out(chain_.size());
    std::vector<std::pair<std::int64_t, std::int64_t>> pads(chain_.size());
    for (std::size_t i = chain_.size(); i-- > 0;) {
      out[i] = rows;
      const RowWindow& w = windows_[i];
      const std::int64_t begin = rows.begin * w.stride - w.pad_top;
      const std::int64_t end =
          (rows.end - 1) * w.stride - w.pad_top + (w.kernel - 1) * w.dilation + 1;
      const std::int64_t height = shape_of(graph_, chain_[i].inputs[0])[2];
      rows = {std::max<std::int64_t>(begin, 0), std::min(end, height)};
      pads[i] = {rows.begin - begin, end - rows.end};
    }
    ValueId value = cut(chain_[0].inputs[0], rows);
    for (std::size_t i = 0; i < chain_.size(); ++i) value = write_op(i, value, out[i], pads[i]);
    return value;
  }

 private:
  ValueId write_op(std::size_t i, ValueId input, Rows rows,
                   std::pair<std::int64_t, std::int64_t> pads) {
    Node node = chain_[i];
    TensorDesc desc = graph_.values[node.outputs[0]].desc;
    desc.shape[2] = rows.end - rows.begin;
    const auto before = node.op.attrs.get_ints("pads");
    node.op.attrs.set("pads", std::vector<std::int64_t>{pads.first, first_or(before, 1, 0),
                                                        pads.second, first_or(before, 3, 0)});
    node.op.attrs.erase("ceil_mode");  // the padding now says exactly how many rows there are
    node.op.attrs.erase("auto_pad");
    node.inputs[0] = input;
    for (std::size_t k = anchor_input_count(node); k < node.inputs.size(); ++k)
      if (node.inputs[k] != kNone && !graph_.values[node.inputs[k]].constant)
        node.inputs[k] = cut(node.inputs[k], rows);
    const std::string stem = graph_.values[node.outputs[0]].name + suffix_;
    node.name += suffix_;
    node.outputs = {add_intermediate(graph_, stem, desc)};
    const ValueId output = node.outputs[0];
    graph_.add_node(std::move(node));
    return output;
  }

  /// A residual may be cut where the input was.
  ValueId cut(ValueId value, Rows rows) {
    TensorDesc desc = graph_.values[value].desc;
    if (rows.begin == 0 && rows.end == desc.shape[2]) return value;
    const auto [known, is_new] = cuts_.try_emplace({value, rows.begin, rows.end}, kNone);
    if (!is_new) return known->second;
    desc.shape[2] = rows.end - rows.begin;
    const std::string stem = graph_.values[value].name + "_rows_" + std::to_string(rows.begin) +
                             "_to_" + std::to_string(rows.end);
    const ValueId output = known->second = add_intermediate(graph_, stem, desc);
    // Two chains may cut one value alike; names of values are made unique, and the node takes one.
    Node slice{.name = graph_.values[output].name + "_cut", .op = call_of("Slice")};
    slice.inputs = {value, add_ints(graph_, stem + "_begin", {rows.begin}),
                    add_ints(graph_, stem + "_end", {rows.end}),
                    add_ints(graph_, stem + "_axis", {2})};
    slice.outputs = {output};
    graph_.add_node(std::move(slice));
    return output;
  }

  Graph& graph_;
  std::vector<Node> chain_;
  std::vector<RowWindow> windows_;
  std::string suffix_;
  std::map<std::tuple<ValueId, std::int64_t, std::int64_t>, ValueId> cuts_;
};

Result<void> apply(Graph& graph, const std::vector<NodeId>& nodes, const RewriteParams& params) {
  if (!is_chain(graph, nodes)) return Unexpected("no chain of convolutions and poolings");
  const auto given = params.find("strips");
  const std::int64_t height = out_rows(graph, nodes.back());
  const std::int64_t strips = given == params.end() ? 0 : given->second;
  if (strips < 2 || strips > height)
    return Unexpected(std::to_string(strips) + " strips of " + std::to_string(height) + " rows");
  const ValueId whole = graph.nodes[nodes.back()].outputs[0];
  const std::string name = graph.nodes[nodes.back()].name;
  StripWriter writer(graph, nodes);
  for (const NodeId id : nodes) graph.remove_node(id);
  Node join{.name = name + "_strips", .op = call_of("ConcatV2"), .outputs = {whole}};
  join.op.attrs.set("axis", std::int64_t{2});
  for (std::int64_t s = 0; s < strips; ++s)
    join.inputs.push_back(writer.write(s, {height * s / strips, height * (s + 1) / strips}));
  graph.add_node(std::move(join));
  return {};
}

}  // namespace

void register_slice_rows(RewriteRegistry& registry) {
  registry.add({.kind = "slice_rows", .version = 1, .find = find, .apply = apply});
}

}  // namespace aoe::graph
