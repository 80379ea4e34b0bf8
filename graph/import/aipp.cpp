// Puts the operators between an input and its readers.
#include "graph/import/aipp.h"

#include <algorithm>
#include <numeric>
#include <set>

#include "base/error.h"
#include "graph/rewrite.h"
#include "graph/shape_inference.h"
#include "reference/elements/onnx_data_type.h"

namespace aoe::graph {
namespace {

constexpr const char* kFlag = "--insert_op_conf";

using Ints = std::vector<std::int64_t>;

[[noreturn]] void fail(const std::string& what, const std::string& advice = {}) {
  throw Error(ExitCode::kUsage, what, kFlag, advice);
}

std::string text_of(const PixelSize& size) {
  return std::to_string(size.width) + "x" + std::to_string(size.height);
}

std::int64_t channels_of(PixelFormat format) {
  switch (format) {
    case PixelFormat::kXrgb8888:
      return 4;
    case PixelFormat::kYuv400:
      return 1;
    default:
      return 3;
  }
}

bool is_yuv420(const Aipp& aipp) {
  return aipp.format == PixelFormat::kYuv420sp;
}

PixelSize size_or(PixelSize given, PixelSize fallback) {
  return {given.width > 0 ? given.width : fallback.width,
          given.height > 0 ? given.height : fallback.height};
}

/// The sizes that the documents leave to be filled in, and the checks of all; `model` is the size of the model's input.
Aipp completed(Aipp aipp, PixelSize model) {
  if (!aipp.pads) aipp.left = aipp.right = aipp.top = aipp.bottom = 0;
  const PixelSize inner{model.width - aipp.left - aipp.right,
                        model.height - aipp.top - aipp.bottom};
  if (inner.width < 1 || inner.height < 1)
    fail("the padding leaves nothing of the model's " + text_of(model) + " pixels");
  const bool changes = aipp.crops || aipp.resizes || aipp.pads;
  if (changes && (aipp.source.width == 0 || aipp.source.height == 0))
    fail("src_image_size_w and src_image_size_h are missing",
         "crop, resize and padding need the size of the source");
  aipp.source = size_or(aipp.source, model);
  if (!aipp.crops) {
    aipp.crop_start = {};
    aipp.crop_size = aipp.source;
  }
  aipp.crop_size = size_or(aipp.crop_size, inner);
  if (aipp.crop_start.width + aipp.crop_size.width > aipp.source.width ||
      aipp.crop_start.height + aipp.crop_size.height > aipp.source.height)
    fail("cropping " + text_of(aipp.crop_size) + " pixels at " + text_of(aipp.crop_start) +
         " reaches beyond the source's " + text_of(aipp.source));
  const PixelSize made = aipp.resizes ? size_or(aipp.resized, inner) : aipp.crop_size;
  aipp.resized = made;
  if (made != inner)
    fail("makes images of " +
             text_of({made.width + aipp.left + aipp.right, made.height + aipp.top + aipp.bottom}) +
             " pixels, the model takes " + text_of(model),
         "correct crop_size_*, resize_output_* or *_padding_size");
  for (const PixelSize& size : {aipp.source, aipp.crop_start, aipp.crop_size})
    if (is_yuv420(aipp) && (size.width % 2 != 0 || size.height % 2 != 0))
      fail("YUV420SP_U8 needs even sizes and positions, not " + text_of(size));
  return aipp;
}

/// A row of operators, each reading what the one before made.
class Chain {
 public:
  Chain(Graph& graph, std::string stem) : graph_(graph), stem_(std::move(stem)) {}

  ValueId then(ValueId from, const std::string& type, reference::Attrs attrs = {},
               std::vector<ValueId> others = {}) {
    const std::string name = unique_name(type);
    Node node{.name = name, .op = call_of(type, std::move(attrs)), .inputs = {from}};
    node.inputs.insert(node.inputs.end(), others.begin(), others.end());
    node.outputs = {add_intermediate(graph_, name, {.shape = kUnknownRankShape})};
    node.origins = {name};
    const ValueId made = node.outputs[0];
    inference_.infer_node(graph_.add_node(std::move(node)));
    return made;
  }
  ValueId ints(const Ints& values) { return add_ints(graph_, stem_ + "_ints", values); }
  ValueId floats(const Shape& shape, const std::vector<double>& values) {
    return add_floats(graph_, stem_ + "_floats", shape, values);
  }

  ValueId to_type(ValueId from, DataType type) {
    reference::Attrs attrs;
    attrs.set("to", reference::onnx_number(type));
    return then(from, "Cast", std::move(attrs));
  }
  /// Of NHWC pixels: rows and columns.
  ValueId window(ValueId from, PixelSize start, PixelSize size) {
    const Shape& shape = shape_of(graph_, from);
    if (start == PixelSize{} && shape[1] == size.height && shape[2] == size.width) return from;
    return then(from, "Slice", {},
                {ints({start.height, start.width}),
                 ints({start.height + size.height, start.width + size.width}), ints({1, 2})});
  }
  ValueId reshaped(ValueId from, const Ints& shape) {
    return then(from, "Reshape", {}, {ints(shape)});
  }
  ValueId to_nchw(ValueId from) {
    reference::Attrs attrs;
    attrs.set("perm", Ints{0, 3, 1, 2});
    return then(from, "Transpose", std::move(attrs));
  }

 private:
  std::string unique_name(const std::string& type) {
    std::string name = stem_ + "_" + type;
    for (int n = 2; std::ranges::find(graph_.nodes, name, &Node::name) != graph_.nodes.end(); ++n)
      name = stem_ + "_" + type + "_" + std::to_string(n);
    return name;
  }

  Graph& graph_;
  std::string stem_;
  ShapeInference inference_{graph_};
};

Shape pixel_shape(const Aipp& aipp, std::int64_t batch) {
  if (is_yuv420(aipp)) return {batch, aipp.source.height * 3 / 2, aipp.source.width, 1};
  return {batch, aipp.source.height, aipp.source.width, channels_of(aipp.format)};
}

/// Rows of Y, then rows of pairs U, V for every 2 x 2 pixels: cropped, as float planes.
ValueId yuv420_planes(Chain& chain, ValueId pixels, const Aipp& aipp, std::int64_t batch) {
  const PixelSize start = aipp.crop_start, size = aipp.crop_size;
  const ValueId rows = chain.window(pixels, start, size);
  const ValueId y =
      chain.reshaped(chain.to_type(rows, DataType::kFloat), {batch, 1, size.height, size.width});
  const ValueId pairs = chain.window(pixels, {start.width, aipp.source.height + start.height / 2},
                                     {size.width, size.height / 2});
  const ValueId small =
      chain.to_nchw(chain.reshaped(pairs, {batch, size.height / 2, size.width / 2, 2}));
  reference::Attrs nearest;
  nearest.set("mode", std::string("nearest"));
  nearest.set("coordinate_transformation_mode", std::string("asymmetric"));
  nearest.set("nearest_mode", std::string("floor"));
  const ValueId uv = chain.then(chain.to_type(small, DataType::kFloat), "Resize",
                                std::move(nearest), {kNone, chain.floats({4}, {1, 1, 2, 2})});
  reference::Attrs channels;
  channels.set("axis", std::int64_t{1});
  return chain.then(y, "ConcatV2", std::move(channels), {uv});
}

ValueId planes_of(Chain& chain, ValueId pixels, const Aipp& aipp, std::int64_t batch) {
  if (is_yuv420(aipp)) return yuv420_planes(chain, pixels, aipp, batch);
  const ValueId cropped = chain.window(pixels, aipp.crop_start, aipp.crop_size);
  return chain.to_type(chain.to_nchw(cropped), DataType::kFloat);
}

/// Bilinear, to whole numbers as pixels have them.
ValueId resized(Chain& chain, ValueId planes, const Aipp& aipp, std::int64_t batch) {
  reference::Attrs linear;
  linear.set("mode", std::string("linear"));
  linear.set("coordinate_transformation_mode", std::string("half_pixel"));
  const ValueId sizes =
      chain.ints({batch, channels_of(aipp.format), aipp.resized.height, aipp.resized.width});
  return chain.then(chain.then(planes, "Resize", std::move(linear), {kNone, kNone, sizes}), "Rint");
}

/// Which channel of the image is channel i of what follows.
Ints channel_order(const Aipp& aipp) {
  Ints order(static_cast<std::size_t>(channels_of(aipp.format)));
  std::iota(order.begin(), order.end(), 0);
  if (aipp.swaps_ax && order.size() == 4) std::ranges::rotate(order, order.begin() + 1);
  if (aipp.swaps_rbuv && is_yuv420(aipp)) std::swap(order[1], order[2]);
  if (aipp.swaps_rbuv && !is_yuv420(aipp) && order.size() >= 3) std::swap(order[0], order[2]);
  return order;
}

/// A 1x1 convolution: products of bytes and matrix entries, in 256ths, are exact in float32, and so are their sums.
ValueId converted(Chain& chain, ValueId planes, const Aipp& aipp, std::int64_t channels) {
  constexpr double kOne = 256;
  const Ints order = channel_order(aipp);
  const std::size_t inputs = order.size();
  std::vector<double> weights(static_cast<std::size_t>(channels) * inputs);
  std::vector<double> bias(static_cast<std::size_t>(channels));
  for (std::size_t i = 0; i < bias.size(); ++i) {
    if (i >= 3) {  // the fourth passes
      weights[i * inputs + static_cast<std::size_t>(order[i])] = 1;
      continue;
    }
    if (!is_yuv420(aipp)) bias[i] = aipp.output_bias[i];
    for (std::size_t j = 0; j < 3; ++j) {
      weights[i * inputs + static_cast<std::size_t>(order[j])] = aipp.matrix[i][j] / kOne;
      if (is_yuv420(aipp)) bias[i] -= aipp.matrix[i][j] * aipp.input_bias[j] / kOne;
    }
  }
  const ValueId w = chain.floats({channels, static_cast<std::int64_t>(inputs), 1, 1}, weights);
  const ValueId sums = chain.then(planes, "Conv2D", {}, {w, chain.floats({channels}, bias)});
  return chain.then(chain.then(sums, "Floor"), "ClipByValue", {},
                    {chain.floats({}, {0}), chain.floats({}, {255})});
}

ValueId reordered(Chain& chain, ValueId planes, const Aipp& aipp, std::int64_t channels) {
  Ints order = channel_order(aipp);
  const bool is_prefix = std::ranges::is_sorted(order);
  if (is_prefix && channels == static_cast<std::int64_t>(order.size())) return planes;
  order.resize(static_cast<std::size_t>(channels));
  reference::Attrs attrs;
  attrs.set("axis", std::int64_t{1});
  return chain.then(planes, "GatherV2", std::move(attrs), {chain.ints(order)});
}

ValueId normalised(Chain& chain, ValueId planes, const Aipp& aipp, std::int64_t channels) {
  std::vector<double> shift, scale;
  for (std::size_t i = 0; i < static_cast<std::size_t>(channels); ++i) {
    shift.push_back(aipp.mean[i] + aipp.min[i]);
    scale.push_back(aipp.var_reci[i]);
  }
  const Shape shape = {1, channels, 1, 1};
  const auto all = [](const std::vector<double>& values, double value) {
    return std::ranges::all_of(values, [&](double v) { return v == value; });
  };
  if (!all(shift, 0)) planes = chain.then(planes, "Sub", {}, {chain.floats(shape, shift)});
  if (!all(scale, 1)) planes = chain.then(planes, "Mul", {}, {chain.floats(shape, scale)});
  return planes;
}

ValueId padded(Chain& chain, ValueId planes, const Aipp& aipp) {
  if (aipp.left + aipp.right + aipp.top + aipp.bottom == 0) return planes;
  return chain.then(planes, "PadV3", {},
                    {chain.ints({0, 0, aipp.top, aipp.left, 0, 0, aipp.bottom, aipp.right}),
                     chain.floats({}, {aipp.padding_value})});
}

ValueId input_of(const Graph& graph, const Aipp& aipp) {
  if (!aipp.input_name.empty()) {
    for (const ValueId id : graph.inputs)
      if (graph.values[id].name == aipp.input_name) return id;
    fail("the model has no input '" + aipp.input_name + "'", "correct related_input_name");
  }
  if (aipp.input >= static_cast<std::int64_t>(graph.inputs.size()))
    fail("the model has no input " + std::to_string(aipp.input) + ", only " +
             std::to_string(graph.inputs.size()),
         "related_input_rank counts from 0");
  return graph.inputs[static_cast<std::size_t>(aipp.input)];
}

void check_input(const Value& input, const Aipp& aipp) {
  const TensorDesc& desc = input.desc;
  const bool is_float = desc.dtype == DataType::kFloat || desc.dtype == DataType::kFloat16;
  if (!is_float || desc.shape.size() != 4 || !is_static(desc.shape))
    fail("input '" + input.name + "' is " + to_string(desc),
         "AIPP makes float32 or float16 images of known size, NCHW");
  if (desc.shape[1] < 1 || desc.shape[1] > channels_of(aipp.format))
    fail("input '" + input.name + "' has " + std::to_string(desc.shape[1]) +
         " channels, images of this format " + std::to_string(channels_of(aipp.format)));
}

void insert(Graph& graph, ValueId input, const Aipp& given) {
  const TensorDesc wanted = graph.values[input].desc;
  const std::int64_t batch = wanted.shape[0], channels = wanted.shape[1];
  const Aipp aipp = completed(given, {.width = wanted.shape[3], .height = wanted.shape[2]});
  const std::string stem = "aipp_" + graph.values[input].name;
  // The readers get a value of their own first: what is made below reads the input itself.
  const ValueId read = add_intermediate(graph, stem + "_image", wanted);
  graph.replace_uses(input, read);
  graph.values[input].desc = {.dtype = DataType::kUint8, .shape = pixel_shape(aipp, batch)};

  Chain chain(graph, stem);
  ValueId planes = planes_of(chain, input, aipp, batch);
  if (aipp.resizes) planes = resized(chain, planes, aipp, batch);
  planes = aipp.converts && aipp.format != PixelFormat::kYuv400
               ? converted(chain, planes, aipp, channels)
               : reordered(chain, planes, aipp, channels);
  planes = padded(chain, normalised(chain, planes, aipp, channels), aipp);
  if (wanted.dtype != DataType::kFloat) planes = chain.to_type(planes, wanted.dtype);
  graph.replace_uses(read, planes);
}

}  // namespace

void insert_aipp(Graph& graph, const std::vector<Aipp>& ops) {
  std::set<ValueId> prepared;
  for (const Aipp& aipp : ops) {
    const ValueId input = input_of(graph, aipp);
    if (!prepared.insert(input).second)
      fail("input '" + graph.values[input].name + "' is prepared twice",
           "give each aipp_op a related_input_rank of its own");
    check_input(graph.values[input], aipp);
    insert(graph, input, aipp);
  }
}

}  // namespace aoe::graph
