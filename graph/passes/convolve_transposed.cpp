// convolve_transposed: a transposed convolution of stride s becomes a convolution of stride 1, whose s*s times as many channels are
// the pixels of each block of s*s outputs, and a DepthToSpace. Products of zeros come in where the window is no multiple of the
// stride, but all that convolutions have is theirs: the 4x4 windows of stride 2 of generators and decoders become 3x3 ones, which
// Winograd's algorithm takes, and 2x2 ones of stride 2 a matrix product. Elementwise functions behind it go before the DepthToSpace,
// where the convolution takes them in.
#include <algorithm>
#include <optional>

#include "graph/passes.h"
#include "graph/rewrite.h"

namespace aoe::graph {
namespace {

/// Of the products that remain, to those there were: 9/4 for 4x4 windows of stride 2, which Winograd's algorithm makes up for; it
/// takes windows of three taps. (3x3 windows of stride 2 become 2x2 ones with 16/9 of the products: 1.6 times the time, Zen 3.)
constexpr double kMostProducts = 2.25;
constexpr std::int64_t kWinogradTaps = 3;
/// Weights grow as products do; fewer pixels than these would wait for them.
constexpr std::int64_t kFewestPixels = 128;

/// One axis. Output s*q + r takes tap r + pad - s*d of the input d behind q, for all d where there is such a tap.
struct Axis {
  std::int64_t in = 0, out = 0, kernel = 0, stride = 0, pad = 0;

  std::int64_t first() const { return floor_div(pad - kernel, stride) + 1; }
  std::int64_t last() const { return floor_div(stride - 1 + pad, stride); }
  std::int64_t taps() const { return last() - first() + 1; }
  std::int64_t pad_begin() const { return -first(); }
  std::int64_t pad_end() const { return out / stride - in + last(); }
  /// Of the transposed kernel, for pixel `r` of a block; outside of it where there is none.
  std::int64_t tap(std::int64_t r, std::int64_t k) const {
    return r + pad - stride * (first() + k);
  }

 private:
  static std::int64_t floor_div(std::int64_t a, std::int64_t b) {
    return a >= 0 ? a / b : -((b - 1 - a) / b);
  }
};

struct Window {
  Axis rows, columns;

  std::int64_t block() const { return rows.stride * columns.stride; }
};

Axis axis_of(const reference::WindowAxis& axis) {
  return {.in = axis.output,
          .out = axis.input,
          .kernel = axis.kernel,
          .stride = axis.stride,
          .pad = axis.pad_begin};
}

/// nullopt: not one that becomes a convolution.
std::optional<Window> window_of(const Graph& graph, const Node& node) {
  if (node.is_dead || !is_type(node, "Conv2DTranspose") || !is_float_constant(graph, node, 1) ||
      (has_input(node, 2) && !is_float_constant(graph, node, 2)))
    return std::nullopt;
  const TensorDesc& in = graph.values[node.inputs[0]].desc;
  if (in.dtype != DataType::kFloat || in.shape.size() != 4 || !is_static(in.shape))
    return std::nullopt;
  const Shape& weights = shape_of(graph, node.inputs[1]);
  const auto given = reference::window_of(node.op.type, node.op.attrs, in.shape, weights);
  if (!given || node.op.attrs.get_int("group", 1) != 1 || given->height().dilation != 1 ||
      given->width().dilation != 1 || given->height().stride != given->width().stride)
    return std::nullopt;
  const Window window{axis_of(given->height()), axis_of(given->width())};
  double products = 1;
  for (const Axis& axis : {window.rows, window.columns}) {
    if (axis.stride < 2 || axis.out % axis.stride != 0 || axis.pad_begin() < 0 ||
        axis.pad_end() < 0)
      return std::nullopt;
    products *= static_cast<double>(axis.taps() * axis.stride) / static_cast<double>(axis.kernel);
  }
  const std::int64_t pixels = in.shape[0] * in.shape[2] * in.shape[3];
  const bool is_for_winograd =
      window.rows.taps() == kWinogradTaps && window.columns.taps() == kWinogradTaps;
  const bool pays =
      products <= 1 || (is_for_winograd && products <= kMostProducts && pixels >= kFewestPixels);
  return pays ? std::optional(window) : std::nullopt;
}

/// [row in the block][column in the block][out][in][tap row][tap column] of [in][out][row][column].
ConstantPtr block_weights(const Constant& weights, const Window& window) {
  const Shape& from = weights.desc().shape;
  const Axis &rows = window.rows, &columns = window.columns;
  const std::int64_t in = from[0], out = from[1];
  auto result = std::make_shared<Constant>(TensorDesc{
      .dtype = DataType::kFloat, .shape = {window.block() * out, in, rows.taps(), columns.taps()}});
  float* to = static_cast<float*>(result->mutable_data());
  const float* taps = weights.view().as<float>();
  const auto tap = [&](std::int64_t ic, std::int64_t oc, std::int64_t y, std::int64_t x) {
    const bool is_inside = y >= 0 && y < rows.kernel && x >= 0 && x < columns.kernel;
    return is_inside ? taps[((ic * out + oc) * rows.kernel + y) * columns.kernel + x] : 0.0f;
  };
  for (std::int64_t pixel = 0; pixel < window.block(); ++pixel)
    for (std::int64_t oc = 0; oc < out; ++oc)
      for (std::int64_t ic = 0; ic < in; ++ic)
        for (std::int64_t y = 0; y < rows.taps(); ++y)
          for (std::int64_t x = 0; x < columns.taps(); ++x)
            *to++ = tap(ic, oc, rows.tap(pixel / columns.stride, y),
                        columns.tap(pixel % columns.stride, x));
  return result;
}

ConstantPtr repeated(const Constant& bias, std::int64_t times) {
  const std::int64_t count = bias.desc().shape[0];
  auto result =
      std::make_shared<Constant>(TensorDesc{.dtype = DataType::kFloat, .shape = {times * count}});
  float* to = static_cast<float*>(result->mutable_data());
  for (std::int64_t i = 0; i < times; ++i)
    std::copy_n(bias.view().as<float>(), count, to + i * count);
  return result;
}

Node convolution_of(Graph& graph, const Node& node, const Window& window) {
  const Axis &rows = window.rows, &columns = window.columns;
  Node convolution{
      .name = node.name, .op = call_of("Conv2D"), .outputs = node.outputs, .origins = node.origins};
  const Value weights = graph.values[node.inputs[1]];
  convolution.inputs = {node.inputs[0], add_constant(graph, weights.name + "_blocks",
                                                     block_weights(*weights.constant, window))};
  if (has_input(node, 2)) {
    const Value bias = graph.values[node.inputs[2]];
    convolution.inputs.push_back(
        add_constant(graph, bias.name + "_blocks", repeated(*bias.constant, window.block())));
  }
  reference::Attrs& attrs = convolution.op.attrs;
  attrs.set("strides", std::vector<std::int64_t>{1, 1});
  attrs.set("pads", std::vector<std::int64_t>{rows.pad_begin(), columns.pad_begin(), rows.pad_end(),
                                              columns.pad_end()});
  attrs.set("kernel_shape", std::vector<std::int64_t>{rows.taps(), columns.taps()});
  return convolution;
}

/// What a convolution makes of each block, and the functions that follow the whole, if nothing else reads in between.
void convolve(Graph& graph, NodeId id, const Window& window) {
  const Node node = graph.nodes[id];
  TensorDesc blocks = graph.values[node.outputs[0]].desc;
  blocks.shape = {blocks.shape[0], blocks.shape[1] * window.block(),
                  window.rows.out / window.rows.stride, window.columns.out / window.columns.stride};
  const std::vector<NodeId> functions = functions_behind(graph, node.outputs[0]);
  const ValueId last =
      functions.empty() ? node.outputs[0] : graph.nodes[functions.back()].outputs[0];
  std::vector<Node> row = {convolution_of(graph, node, window)};
  for (const NodeId function : functions) row.push_back(graph.nodes[function]);
  graph.remove_node(id);
  for (const NodeId function : functions) graph.remove_node(function);
  const ValueId made = add_row(graph, std::move(row), blocks, "_blocks");
  Node spread{.name = node.name + "_spread", .op = call_of("DepthToSpace")};
  spread.op.attrs.set("blocksize", window.rows.stride);
  spread.inputs = {made};
  spread.outputs = {last};
  graph.add_node(std::move(spread));
}

}  // namespace

bool convolve_transposed(Graph& graph) {
  bool changed = false;
  for (const NodeId id : graph.topological_order()) {
    const auto window = window_of(graph, graph.nodes[id]);
    if (!window) continue;
    convolve(graph, id, *window);
    changed = true;
  }
  return changed;
}

}  // namespace aoe::graph
