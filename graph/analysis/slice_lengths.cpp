// Names of lengths: an op that makes slices of slices keeps them, elementwise ops have those of what they read, and windows that are moved
// alike over images of one height make such images.
#include "graph/analysis/slice_lengths.h"

#include <algorithm>
#include <ranges>

#include "graph/rewrite.h"
#include "reference/slicing.h"
#include "reference/texts/texts.h"
#include "reference/windows/nhwc.h"

namespace aoe::graph {
namespace {

using reference::kWhole;
using reference::OpKind;

constexpr std::int64_t kFirstName = -3;  // below what shapes are made of

std::size_t at(int axis) {
  return static_cast<std::size_t>(axis);
}

/// A dimension counted from the last; 1 where there is none.
std::int64_t dim_from_last(const Shape& shape, std::size_t from_last) {
  return from_last > shape.size() ? 1 : shape[shape.size() - from_last];
}

/// Those of its dimensions that lie where the output's are open.
bool is_open_within(const Shape& shape, const Shape& output, const OpenAxes& open) {
  for (std::size_t from_last = 1; from_last <= shape.size(); ++from_last) {
    const auto place = static_cast<int>(output.size() - from_last);
    if (dim_from_last(shape, from_last) == kUnknownDim && (place < open.first || place > open.last))
      return false;
  }
  return true;
}

/// Every slice reads all of it.
bool stretches(const Shape& shape, const Shape& output, const OpenAxes& open) {
  for (int axis = open.first; axis <= open.last; ++axis)
    if (dim_from_last(shape, output.size() - at(axis)) != 1) return false;
  return true;
}

/// What an operator is asked about, with the memory of its parts.
struct Question {
  std::vector<Tensor> inputs;
  std::vector<int> axes;
  std::vector<TensorDesc> outputs;
  std::vector<int> output_axes;

  bool can_be_sliced(const Node& node) const {
    return reference::can_be_sliced(node.op, {.attrs = node.op.attrs,
                                              .version = node.op.version,
                                              .inputs = inputs,
                                              .axes = axes,
                                              .outputs = outputs,
                                              .output_axes = output_axes});
  }
};

Question question_of(const Graph& graph, const Node& node) {
  Question question;
  for (const ValueId id : node.inputs) {
    question.axes.push_back(kWhole);
    question.inputs.emplace_back();
    if (id == kNone) continue;
    const Value& value = graph.values[id];
    question.inputs.back() = value.constant ? value.constant->view() : Tensor{value.desc, nullptr};
  }
  for (const ValueId id : node.outputs) {
    question.outputs.push_back(id == kNone ? TensorDesc{} : graph.values[id].desc);
    question.output_axes.push_back(kWhole);
  }
  return question;
}

/// The only result has as many axes as input 0, each of its length, but for those whose length is known and differs.
bool keeps_places(const Graph& graph, const Node& node) {
  const reference::OpDef* def = reference::ops().find(node.op.type);
  if (def == nullptr || node.outputs.size() != 1 || node.outputs[0] == kNone) return false;
  if (def->kind == OpKind::kNormalisation) return true;
  const bool is_rest_known =
      std::ranges::all_of(node.inputs | std::views::drop(1),
                          [&](ValueId id) { return id == kNone || graph.values[id].constant; });
  if (def->kind == OpKind::kElementwise && def->slices) return is_rest_known;  // scales of an axis
  if (def->kind == OpKind::kReduction)
    return is_rest_known && node.op.attrs.get_int("keepdims", 1) != 0;
  if (!is_rest_known) return false;
  const bool is_product = is_type(node, "MatMulV2") || is_type(node, "QuantMatMul");
  return is_type(node, "WeightQuantBatchMatmulV2") ||
         (is_product && shape_of(graph, node.inputs[1]).size() == 2);
}

}  // namespace

/// Of a convolution or pooling of which nothing but the image is computed, and what is fused behind it.
struct ImageWindow {
  reference::Window window;
  std::size_t first_in, first_out;  ///< the first of the image's dimensions
};

namespace {

std::optional<ImageWindow> image_window(const Graph& graph, const Node& node) {
  const bool is_of_image = std::ranges::all_of(node.inputs | std::views::drop(1), [&](ValueId id) {
    return id == kNone || graph.values[id].constant != nullptr;
  });
  if (!is_of_image || node.inputs.empty() || node.inputs[0] == kNone || node.outputs.size() != 1)
    return {};
  const reference::OpCall* call = &node.op;
  std::size_t weight = 1;
  if (node.op.body != nullptr) {
    const reference::BodyStep& anchor = node.op.body->steps.front();
    if (anchor.operands.empty() || anchor.operands[0] != 0) return {};
    weight = anchor.operands.size() > 1 ? static_cast<std::size_t>(anchor.operands[1]) : weight;
    call = &anchor.call;
  }
  const Shape& x = shape_of(graph, node.inputs[0]);
  const bool has_weights = weight < node.inputs.size() && node.inputs[weight] != kNone;
  if (!has_weights && reference::sums_products(call->type)) return {};
  const Shape weights = has_weights ? shape_of(graph, node.inputs[weight]) : Shape{};
  if (call->type == "Conv2DTranspose" || call->attrs.get_int("ceil_mode", 0) != 0 ||
      call->attrs.get_string("auto_pad", "NOTSET") != "NOTSET" ||
      !has_known_rank(graph.values[node.inputs[0]].desc))
    return {};
  const auto window = reference::window_of(call->type, call->attrs, x, weights);
  if (!window || window->rank + 2 != x.size()) return {};
  const bool has_channels_last = call->type.starts_with("Nhwc");
  return ImageWindow{*window, has_channels_last && !reference::reads_planes(call->attrs) ? 1U : 2U,
                     has_channels_last ? 1U : 2U};
}

}  // namespace

bool is_elementwise(const Node& node) {
  const reference::OpDef* def = reference::ops().find(node.op.type);
  return def != nullptr && def->kind == OpKind::kElementwise && !def->slices &&
         def->is_deterministic && node.outputs.size() == 1 && node.outputs[0] != kNone;
}

std::optional<OpenAxes> open_axes(const TensorDesc& desc) {
  if (!has_known_rank(desc) || desc.dtype == DataType::kUndefined ||
      std::ranges::count(desc.shape, 0) > 0)
    return {};
  const auto first = std::ranges::find(desc.shape, kUnknownDim);
  if (first == desc.shape.end()) return {};
  const auto last = std::ranges::find(desc.shape.rbegin(), desc.shape.rend(), kUnknownDim);
  return OpenAxes{static_cast<int>(first - desc.shape.begin()),
                  static_cast<int>(desc.shape.rend() - last) - 1};
}

std::optional<int> sliced_axis(const TensorDesc& desc, const SliceAxes& axes) {
  if (axes.behind == SliceAxes::kAnywhere) {
    const auto open = open_axes(desc);
    return open && open->first == open->last ? std::optional(open->last) : std::nullopt;
  }
  const int last = static_cast<int>(desc.shape.size()) - 1 - axes.behind;
  for (int axis = last; axis >= 0 && axis > last - axes.dims; --axis)
    if (desc.shape[at(axis)] != 1) return last;
  return {};
}

SliceLengths::SliceLengths(const Graph& graph)
    : graph_(graph), places_(graph.values.size()), next_name_(kFirstName) {
  for (const ValueId input : graph.inputs) places_[input] = named(graph.values[input].desc.shape);
}

std::optional<SliceLength> SliceLengths::add(const Node& node) {
  std::optional<SliceLength> length;
  const bool is_plain = node.bodies.empty() && !reference::reads_texts(node.op.type);
  if (is_plain) length = along_one(node);
  for (std::size_t i = 0; i < node.outputs.size(); ++i) {
    if (node.outputs[i] == kNone) continue;
    Shape& own = places_[node.outputs[i]];
    own = graph_.values[node.outputs[i]].desc.shape;
    if (length)
      std::ranges::replace(own, kUnknownDim, length->places[0]);
    else
      own = places_of(node, i, is_plain);
  }
  return is_plain && !length ? along_several(node) : length;
}

/// Whatever has one open dimension, wherever it lies.
std::optional<SliceLength> SliceLengths::along_one(const Node& node) const {
  constexpr SliceAxes kOne;
  std::optional<std::int64_t> name;
  Question question = question_of(graph_, node);
  for (std::size_t i = 0; i < node.inputs.size(); ++i) {
    const ValueId id = node.inputs[i];
    if (id == kNone || graph_.values[id].constant || is_static(graph_.values[id].desc.shape))
      continue;
    const std::optional<int> axis = sliced_axis(graph_.values[id].desc, kOne);
    if (!axis || places_[id].empty()) return {};
    const std::int64_t own = places_[id][at(*axis)];
    if (name.value_or(own) != own) return {};
    name = own;
    question.axes[i] = *axis;
  }
  for (std::size_t i = 0; i < node.outputs.size(); ++i) {
    if (node.outputs[i] == kNone) continue;
    const std::optional<int> axis = sliced_axis(question.outputs[i], kOne);
    if (!axis) return {};
    question.output_axes[i] = *axis;
  }
  if (!name || !question.can_be_sliced(node)) return {};
  return SliceLength{kOne, {*name}};
}

/// Along all that is open of its one result: elementwise ops, which may stretch what they read; and what makes a slice of each slice
/// of input 0, where nothing else is open.
std::optional<SliceLength> SliceLengths::along_several(const Node& node) const {
  if (!is_elementwise(node) && !keeps_places(graph_, node)) return {};
  Question question = question_of(graph_, node);
  const Shape& output = question.outputs[0].shape;
  const std::optional<OpenAxes> open = open_axes(question.outputs[0]);
  if (!open) return {};
  for (std::size_t i = 0; i < node.inputs.size(); ++i) {
    if (node.inputs[i] == kNone) continue;
    const TensorDesc& desc = question.inputs[i].desc;
    const bool is_constant = question.inputs[i].data != nullptr;
    if (!has_known_rank(desc)) return {};
    if (is_elementwise(node)
            ? desc.shape.size() > output.size() || !is_open_within(desc.shape, output, *open) ||
                  (is_constant && !stretches(desc.shape, output, *open))
            : open_axes(desc) != (i == 0 ? open : std::nullopt))
      return {};
  }
  if (!is_elementwise(node)) {
    const Shape& input = question.inputs[0].desc.shape;
    if (input.size() != output.size()) return {};
    for (int axis = open->first; axis <= open->last; ++axis) {
      question.axes[0] = question.output_axes[0] = axis;
      if (input[at(axis)] != output[at(axis)] || !question.can_be_sliced(node)) return {};
    }
  }
  const Shape& places = places_[node.outputs[0]];
  const auto begin = places.begin() + open->first, end = places.begin() + open->last + 1;
  return SliceLength{{.dims = open->last - open->first + 1,
                      .behind = static_cast<int>(output.size()) - 1 - open->last},
                     {begin, end}};
}

Shape SliceLengths::places_of(const Node& node, std::size_t output, bool is_plain) {
  const Value& value = graph_.values[node.outputs[output]];
  const Shape& shape = value.desc.shape;
  if (!has_known_rank(value.desc)) return {};
  if (is_plain && is_elementwise(node)) return broadcast(node, shape);
  if (const auto window = image_window(graph_, node); window && is_plain)
    return behind_window(node, *window);
  if (!is_plain || !keeps_places(graph_, node)) return named(shape);
  const Shape& from = places_[node.inputs[0]];
  Shape places = named(shape);
  for (std::size_t i = 0; i < shape.size() && from.size() == shape.size(); ++i)
    if (shape[i] == kUnknownDim && from[i] < kUnknownDim) places[i] = from[i];
  return places;
}

Shape SliceLengths::behind_window(const Node& node, const ImageWindow& image) {
  Shape places = graph_.values[node.outputs[0]].desc.shape;
  const Shape& from = places_[node.inputs[0]];
  const std::size_t rank = image.window.rank;
  if (from.size() != rank + 2 || places.size() != from.size()) return named(places);
  if (places[0] == kUnknownDim) places[0] = from[0];
  for (std::size_t i = 0; i < rank; ++i)
    if (std::int64_t& place = places[image.first_out + i]; place == kUnknownDim)
      place = name_behind(image.window.axes[image.window.axes.size() - rank + i],
                          from[image.first_in + i]);
  return named(places);
}

/// (length + padding - reach) / stride + 1.
std::int64_t SliceLengths::name_behind(const reference::WindowAxis& axis, std::int64_t place) {
  if (axis.kernel == kUnknownDim) return kUnknownDim;
  const std::int64_t added = axis.pad_begin + axis.pad_end - axis.reach();
  if (axis.stride == 1 && added == -1) return place;
  const auto [found, is_new] = behind_windows_.try_emplace({place, axis.stride, added}, next_name_);
  if (is_new) --next_name_;
  return found->second;
}

/// A length is that of the one input which has another than 1 there.
Shape SliceLengths::broadcast(const Node& node, const Shape& output) {
  Shape places = output;
  for (std::size_t from_last = 1; from_last <= output.size(); ++from_last) {
    std::int64_t& place = places[output.size() - from_last];
    if (place != kUnknownDim) continue;
    for (const ValueId id : node.inputs) {
      if (id == kNone || graph_.values[id].constant) continue;
      const Shape& from = places_[id];
      const std::int64_t own = dim_from_last(from, from_last);
      if (own == 1) continue;
      if (place != kUnknownDim && place != own) place = next_name_--;
      if (place == kUnknownDim) place = own;
    }
  }
  return named(places);
}

Shape SliceLengths::named(Shape shape) {
  for (std::int64_t& dim : shape)
    if (dim == kUnknownDim) dim = next_name_--;
  return shape;
}

}  // namespace aoe::graph
