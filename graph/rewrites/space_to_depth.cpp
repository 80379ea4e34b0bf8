// space_to_depth: a strided convolution of few channels with a large window (the 7x7 stem of a ResNet, the 11x11 one of
// AlexNet) becomes a SpaceToDepth and a convolution of stride 1 with a smaller window over more channels, which Winograd's
// algorithm takes: ResNet's 147 products to an output become 31.
#include <algorithm>
#include <optional>

#include "base/ceil_div.h"
#include "graph/rewrite.h"
#include "graph/subgraphs/rewrite_plan.h"

namespace aoe::graph {
namespace {

constexpr std::int64_t kMostChannels = 4;  ///< more fill the vectors of direct algorithms
constexpr std::int64_t kFewestTaps = 3, kMostTaps = 5;  ///< of windows that Winograd's takes

/// One axis of the convolution before, in pixels, and behind, in blocks of `stride` pixels. With pad_begin P, tap k reads
/// pixel o * stride + k - P for output o: pixel (k - P) mod stride of block o + floor((k - P) / stride).
struct Axis {
  std::int64_t in = 0, out = 0, kernel = 0, stride = 0, pad_begin = 0;

  std::int64_t block_pad_begin() const { return ceil_div(pad_begin, stride); }
  std::int64_t taps() const { return block_of(kernel - 1) + 1; }
  std::int64_t block_pad_end() const { return out - 1 + taps() - block_pad_begin() - in / stride; }
  /// Among the taps behind, and the pixel inside of it.
  std::int64_t block_of(std::int64_t k) const { return shifted(k) / stride; }
  std::int64_t pixel_of(std::int64_t k) const { return shifted(k) % stride; }

 private:
  std::int64_t shifted(std::int64_t k) const { return k - pad_begin + block_pad_begin() * stride; }
};

struct Window {
  Axis rows, columns;
};

Axis axis_of(const reference::WindowAxis& axis) {
  return {.in = axis.input,
          .out = axis.output,
          .kernel = axis.kernel,
          .stride = axis.stride,
          .pad_begin = axis.pad_begin};
}

/// nullopt: not a convolution that becomes one for Winograd's algorithm.
std::optional<Window> window_of(const Graph& graph, const Node& node) {
  const reference::OpCall& op = reference::anchor(node.op);
  if (node.is_dead || op.type != "Conv2D" || node.outputs.size() != 1 ||
      !is_float_constant(graph, node, 1))
    return std::nullopt;
  if (anchor_input_count(node) > 2 && has_input(node, 2) && !is_float_constant(graph, node, 2))
    return std::nullopt;
  const TensorDesc& in = graph.values[node.inputs[0]].desc;
  if (in.dtype != DataType::kFloat || in.shape.size() != 4 || !is_static(in.shape) ||
      in.shape[1] > kMostChannels)
    return std::nullopt;
  const reference::Attrs& attrs = op.attrs;
  const reference::Window given =
      reference::window_of(op.type, attrs, in.shape, shape_of(graph, node.inputs[1])).value();
  if (attrs.get_int("group", 1) != 1 || given.height().dilation != 1 ||
      given.width().dilation != 1 || attrs.has("input_shuffle"))
    return std::nullopt;

  const Window window{axis_of(given.height()), axis_of(given.width())};
  for (const Axis& axis : {window.rows, window.columns}) {
    if (axis.stride < 2 || axis.in % axis.stride != 0 || axis.pad_begin < 0 ||
        axis.block_pad_end() < 0 || axis.taps() < kFewestTaps || axis.taps() > kMostTaps)
      return std::nullopt;
  }
  const bool is_square =
      window.rows.stride == window.columns.stride && window.rows.taps() == window.columns.taps();
  return is_square ? std::optional(window) : std::nullopt;
}

std::vector<Place> find_space_to_depth(const Graph& graph) {
  std::vector<Place> places;
  for (const NodeId id : graph.topological_order()) {
    if (window_of(graph, graph.nodes[id])) places.push_back({.nodes = {id}, .expected_share = 0.4});
  }
  return places;
}

/// [out][row in the block][column in the block][in][row of blocks][column of blocks], zeros where there was no tap: the
/// order in which SpaceToDepth lays channels out.
ConstantPtr block_weights(const Constant& weights, const Window& window) {
  const Shape& from = weights.desc().shape;
  const Axis &rows = window.rows, &columns = window.columns;
  const std::int64_t block = rows.stride, channels = from[1], taps = rows.taps();
  auto result = std::make_shared<Constant>(TensorDesc{
      .dtype = DataType::kFloat, .shape = {from[0], block * block * channels, taps, taps}});
  float* to = static_cast<float*>(result->mutable_data());
  std::fill_n(to, element_count(result->desc().shape), 0.0f);
  const float* tap = weights.view().as<float>();
  for (std::int64_t oc = 0; oc < from[0]; ++oc) {
    for (std::int64_t ic = 0; ic < channels; ++ic) {
      for (std::int64_t y = 0; y < rows.kernel; ++y) {
        for (std::int64_t x = 0; x < columns.kernel; ++x) {
          const std::int64_t pixel = rows.pixel_of(y) * block + columns.pixel_of(x);
          const std::int64_t channel = (oc * block * block + pixel) * channels + ic;
          to[(channel * taps + rows.block_of(y)) * taps + columns.block_of(x)] = *tap++;
        }
      }
    }
  }
  return result;
}

Result<void> apply_space_to_depth(Graph& graph, const std::vector<NodeId>& nodes,
                                  const RewriteParams&) {
  const auto window =
      nodes.size() == 1 ? window_of(graph, graph.nodes[nodes[0]]) : std::optional<Window>();
  if (!window) return Unexpected("no strided convolution of few channels and whole blocks");
  const Axis &rows = window->rows, &columns = window->columns;
  const std::int64_t block = rows.stride;
  Node convolution = graph.nodes[nodes[0]];
  TensorDesc blocks = graph.values[convolution.inputs[0]].desc;
  blocks.shape = {blocks.shape[0], block * block * blocks.shape[1], rows.in / block,
                  columns.in / block};
  Node move{.name = convolution.name + "_blocks", .op = call_of("SpaceToDepth")};
  move.op.attrs.set("blocksize", block);
  move.inputs = {convolution.inputs[0]};
  move.outputs = {add_intermediate(graph, graph.values[move.inputs[0]].name + "_blocks", blocks)};

  convolution.inputs[0] = move.outputs[0];
  const Value& weights = graph.values[convolution.inputs[1]];
  convolution.inputs[1] =
      add_constant(graph, weights.name + "_blocks", block_weights(*weights.constant, *window));
  reference::Attrs& attrs = reference::edit_anchor(convolution.op).attrs;
  attrs.set("strides", std::vector<std::int64_t>{1, 1});
  attrs.set("pads", std::vector<std::int64_t>{rows.block_pad_begin(), columns.block_pad_begin(),
                                              rows.block_pad_end(), columns.block_pad_end()});
  attrs.set("kernel_shape", std::vector<std::int64_t>{rows.taps(), columns.taps()});
  attrs.erase("auto_pad");
  replace_nodes(graph, nodes, std::move(convolution));
  graph.add_node(std::move(move));
  return {};
}

}  // namespace

void register_space_to_depth(RewriteRegistry& registry) {
  registry.add({.kind = "space_to_depth",
                .version = 1,
                .find = find_space_to_depth,
                .apply = apply_space_to_depth,
                .then = {"fuse_chain"}});
}

}  // namespace aoe::graph
