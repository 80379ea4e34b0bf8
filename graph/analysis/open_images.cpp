#include "graph/analysis/open_images.h"

#include <algorithm>

#include "graph/rewrite.h"

namespace aoe::graph {
namespace {

/// Of a dense window of float32: kept transformed they take four times their memory, 64 MB of these. Larger ones have few pixels in
/// networks, and keep planes.
constexpr std::int64_t kMostWeights = 4'000'000;

bool has_known_weights(const Graph& graph, const Node& node) {
  if (!is_type(node, "QuantConv2D"))
    return is_float_constant(graph, node, 1) &&
           (!has_input(node, 2) || is_float_constant(graph, node, 2));
  return constant_input(graph, node, 1) != nullptr && is_byte(dtype_of(graph, node.inputs[1]));
}

ImageOp convolution_op(const Graph& graph, const Node& node) {
  const auto& attrs = node.op.attrs;
  if (!is_open_image(graph, node.inputs[0]) || !is_open_image(graph, node.outputs[0]) ||
      attrs.get_int("input_shuffle", 1) != 1 || !has_known_weights(graph, node))
    return ImageOp::kOther;
  const Shape& weight = shape_of(graph, node.inputs[1]);
  const std::int64_t groups = attrs.get_int("group", 1);
  const auto pads = attrs.get_ints("pads", {});
  if (std::ranges::any_of(pads, [](std::int64_t pad) { return pad < 0; })) return ImageOp::kOther;
  if (groups == 1 && weight[kHeightDim] * weight[kWidthDim] == 1 && is_all(node, "strides", 1) &&
      is_all(node, "pads", 0))
    return ImageOp::kPointwise;
  const bool is_depthwise = weight[kInDim] == 1 && weight[kOutDim] == groups &&
                            shape_of(graph, node.inputs[0])[kInDim] == groups;
  const bool is_first = groups == 1 && weight[kInDim] <= kFewChannels;
  if (is_depthwise || is_first) return ImageOp::kWindow;
  const bool is_small = is_type(node, "QuantConv2D") || element_count(weight) <= kMostWeights;
  return groups == 1 && is_small ? ImageOp::kDense : ImageOp::kOther;
}

bool is_elementwise(const Graph& graph, const Node& node) {
  if (!reference::is_elementwise(node.op) || node.op.body != nullptr || node.outputs.size() != 1 ||
      !is_open_image(graph, node.outputs[0]))
    return false;
  const Shape& shape = shape_of(graph, node.outputs[0]);
  return std::ranges::all_of(node.inputs, [&](ValueId input) {
    if (input == kNone) return true;
    const Shape& given = shape_of(graph, input);
    return is_one_element(given) || is_channel_vector(given) ||
           (is_open_image(graph, input) && given[kInDim] == shape[kInDim]);
  });
}

bool is_along_channels(const Node& node) {
  const std::int64_t axis = node.op.attrs.get_int("axis", 0);
  return axis == static_cast<std::int64_t>(kInDim) || axis == static_cast<std::int64_t>(kInDim) - 4;
}

/// Which are known, one for each dimension.
bool is_by_scales(const Graph& graph, const Node& node) {
  constexpr std::size_t kRegion = 1, kScales = 2, kSizes = 3;
  const bool has_region =
      has_input(node, kRegion) && shape_of(graph, node.inputs[kRegion]) != Shape{0};
  return !has_region && is_float_constant(graph, node, kScales) &&
         shape_of(graph, node.inputs[kScales]) == Shape{kImageRank} && !has_input(node, kSizes) &&
         !node.op.attrs.has("axes");
}

}  // namespace

bool is_open_image(const Graph& graph, ValueId value) {
  if (value == kNone) return false;
  const TensorDesc& desc = graph.values[value].desc;
  return (desc.dtype == DataType::kFloat || is_byte(desc.dtype)) &&
         desc.shape.size() == kImageRank && desc.shape[kInDim] != kUnknownDim &&
         (desc.shape[kHeightDim] == kUnknownDim || desc.shape[kWidthDim] == kUnknownDim);
}

bool is_channel_vector(const Shape& shape) {
  const std::size_t rank = shape.size();
  if (rank == kImageRank) return shape[kHeightDim] == 1 && shape[kWidthDim] == 1;
  return rank + 1 == kImageRank && shape[rank - 2] == 1 && shape[rank - 1] == 1;
}

bool is_one_element(const Shape& shape) {
  return std::ranges::all_of(shape, [](std::int64_t dim) { return dim == 1; });
}

ImageOp image_op_of(const Graph& graph, const Node& node,
                    const std::function<bool(ValueId)>& is_turned) {
  if (node.is_dead || !node.bodies.empty() || node.outputs.empty()) return ImageOp::kOther;
  if (is_type(node, "Conv2D") || is_type(node, "QuantConv2D")) return convolution_op(graph, node);
  if (std::ranges::none_of(node.inputs, is_turned)) return ImageOp::kOther;
  if (is_type(node, "GlobalAveragePool")) return ImageOp::kMean;
  if (is_type(node, "MaxPoolV3") || is_type(node, "AvgPoolV2"))
    return node.outputs.size() == 1 ? ImageOp::kPool : ImageOp::kOther;
  if (is_type(node, "ConcatV2"))
    return is_along_channels(node) && std::ranges::all_of(node.inputs, is_turned) ? ImageOp::kConcat
                                                                                  : ImageOp::kOther;
  if (is_type(node, "SplitV")) return is_along_channels(node) ? ImageOp::kSplit : ImageOp::kOther;
  if (is_type(node, "Resize"))
    return is_by_scales(graph, node) ? ImageOp::kResize : ImageOp::kOther;
  return is_elementwise(graph, node) ? ImageOp::kElementwise : ImageOp::kOther;
}

}  // namespace aoe::graph
