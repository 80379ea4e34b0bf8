// YOLOv8n: a detector with blocks of split and concatenated branches, pooling at three scales,
// upsampling, and boxes decoded from distributions. Batch normalization is folded, as its exporter
// writes it.
#include "tools/make_model/layers.h"
#include "tools/make_model/models.h"

namespace aoe::make_model {
namespace {

std::string conv_silu(OnnxWriter& model, const std::string& name, const std::string& x,
                      Conv shape) {
  shape.has_bias = true;
  shape.pad = shape.kernel / 2;
  return silu(model, name + "/act", conv(model, name + "/conv", x, shape));
}

/// Half of the channels go through `blocks` bottlenecks; all that passed by is concatenated.
std::string c2f(OnnxWriter& model, const std::string& name, const std::string& x, std::int64_t in,
                std::int64_t out, int blocks, bool has_shortcut) {
  const std::int64_t half = out / 2;
  const std::string y = conv_silu(model, name + "/cv1", x, {.in = in, .out = out});
  const std::string widths = model.constant(name + "/Constant", {half, half});
  std::vector<std::string> parts =
      model.node_with_outputs(name + "/Split", "Split", {y, widths}, 2, {{"axis", 1}});
  for (int i = 0; i < blocks; ++i) {
    const std::string part = name + "/m." + std::to_string(i);
    const Conv three{.in = half, .out = half, .kernel = 3};
    std::string z = conv_silu(model, part + "/cv1", parts.back(), three);
    z = conv_silu(model, part + "/cv2", z, three);
    if (has_shortcut) z = model.node(part + "/Add", "Add", {parts.back(), z});
    parts.push_back(z);
  }
  const std::string all = model.node(name + "/Concat", "Concat", parts, {{"axis", 1}});
  return conv_silu(model, name + "/cv2", all, {.in = half * (2 + blocks), .out = out});
}

/// Three max-poolings of 5x5, one behind the other, concatenated.
std::string sppf(OnnxWriter& model, const std::string& name, const std::string& x,
                 std::int64_t channels) {
  std::vector<std::string> parts = {
      conv_silu(model, name + "/cv1", x, {.in = channels, .out = channels / 2})};
  for (int i = 0; i < 3; ++i)
    parts.push_back(model.node(name + "/m_" + std::to_string(i) + "/MaxPool", "MaxPool",
                               {parts.back()},
                               {{"ceil_mode", 0},
                                {"kernel_shape", std::vector<std::int64_t>{5, 5}},
                                {"pads", std::vector<std::int64_t>(4, 2)},
                                {"strides", std::vector<std::int64_t>{1, 1}}}));
  const std::string all = model.node(name + "/Concat", "Concat", parts, {{"axis", 1}});
  return conv_silu(model, name + "/cv2", all, {.in = channels * 2, .out = channels});
}

std::string upsampled_with(OnnxWriter& model, const std::string& name, const std::string& x,
                           const std::string& other) {
  const std::string scales = model.floats(name + ".scales", {4}, {1, 1, 2, 2});
  const std::string larger = model.node(name + "/Resize", "Resize", {x, "", scales},
                                        {{"coordinate_transformation_mode", "asymmetric"},
                                         {"mode", "nearest"},
                                         {"nearest_mode", "floor"}});
  return model.node(name + "/Concat", "Concat", {larger, other}, {{"axis", 1}});
}

struct YoloSizes {
  std::vector<std::int64_t> channels = {16, 32, 64, 128, 256};
  std::vector<int> blocks = {1, 2, 2, 1};
  std::int64_t classes = 80, bins = 16;
};

/// Boxes as distributions over bins, and classes, of one scale: batch x (4 * bins + classes) x pixels.
std::string head(OnnxWriter& model, int scale, const std::string& x, std::int64_t in,
                 const YoloSizes& sizes, std::int64_t batch) {
  const std::int64_t box = std::max(sizes.channels[2], 4 * sizes.bins);
  const std::int64_t score = std::max(sizes.channels[2], sizes.classes);
  const auto branch = [&](const std::string& kind, std::int64_t middle, std::int64_t out) {
    const std::string name = "/model.22/" + kind + "." + std::to_string(scale);
    std::string y = conv_silu(model, name + ".0", x, {.in = in, .out = middle, .kernel = 3});
    y = conv_silu(model, name + ".1", y, {.in = middle, .out = middle, .kernel = 3});
    return conv(model, name + ".2", y, {.in = middle, .out = out, .has_bias = true});
  };
  const std::string boxes = branch("cv2", box, 4 * sizes.bins);
  const std::string scores = branch("cv3", score, sizes.classes);
  const std::string name = "/model.22/scale_" + std::to_string(scale);
  const std::string both = model.node(name + "/Concat", "Concat", {boxes, scores}, {{"axis", 1}});
  const std::string dims =
      model.constant(name + "/Constant", {batch, 4 * sizes.bins + sizes.classes, -1});
  return model.node(name + "/Reshape", "Reshape", {both, dims});
}

/// The mean of each side's distribution, as distances in pixels of the feature map.
std::string distances(OnnxWriter& model, const std::string& boxes, std::int64_t batch,
                      std::int64_t bins, std::int64_t anchors) {
  const std::string name = "/model.22/dfl";
  const std::string dims = model.constant(name + "/Constant", {batch, 4, bins, anchors});
  std::string y = model.node(name + "/Reshape", "Reshape", {boxes, dims});
  y = model.node(name + "/Transpose", "Transpose", {y},
                 {{"perm", std::vector<std::int64_t>{0, 2, 1, 3}}});
  y = model.node(name + "/Softmax", "Softmax", {y}, {{"axis", 1}});
  std::vector<float> places(static_cast<std::size_t>(bins));
  for (std::size_t i = 0; i < places.size(); ++i) places[i] = static_cast<float>(i);
  const std::string weight = model.floats("model.22.dfl.conv.weight", {1, bins, 1, 1}, places);
  y = model.node(name + "/conv/Conv", "Conv", {y, weight},
                 {{"kernel_shape", std::vector<std::int64_t>{1, 1}}});
  const std::string flat = model.constant(name + "/Constant_1", {batch, 4, anchors});
  return model.node(name + "/Reshape_1", "Reshape", {y, flat});
}

void write_yolov8n(OnnxWriter& model, const ModelOptions& options) {
  YoloSizes sizes;
  if (options.is_small)
    sizes = {.channels = {4, 8, 8, 16, 16}, .blocks = {1, 1, 1, 1}, .classes = 5, .bins = 4};
  const std::vector<std::int64_t>& c = sizes.channels;
  const auto name = [](int index) { return "/model." + std::to_string(index); };
  const auto down = [&](int index, const std::string& x, std::int64_t in, std::int64_t out) {
    return conv_silu(model, name(index), x, {.in = in, .out = out, .kernel = 3, .stride = 2});
  };
  const auto mix = [&](int index, const std::string& x, std::int64_t in, std::int64_t out,
                       int blocks, bool has_shortcut) {
    return c2f(model, name(index), x, in, out, blocks, has_shortcut);
  };
  std::string x = model.input("images", {options.batch, 3, options.image, options.image});
  x = down(0, x, 3, c[0]);
  x = mix(2, down(1, x, c[0], c[1]), c[1], c[1], sizes.blocks[0], true);
  const std::string at8 = mix(4, down(3, x, c[1], c[2]), c[2], c[2], sizes.blocks[1], true);
  const std::string at16 = mix(6, down(5, at8, c[2], c[3]), c[3], c[3], sizes.blocks[2], true);
  x = mix(8, down(7, at16, c[3], c[4]), c[4], c[4], sizes.blocks[3], true);
  const std::string at32 = sppf(model, name(9), x, c[4]);

  const int last = sizes.blocks[3];
  const std::string up16 =
      mix(12, upsampled_with(model, name(10), at32, at16), c[4] + c[3], c[3], last, false);
  const std::string out8 =
      mix(15, upsampled_with(model, name(13), up16, at8), c[3] + c[2], c[2], last, false);
  const auto joined = [&](int index, const std::string& a, const std::string& b) {
    return model.node(name(index) + "/Concat", "Concat", {a, b}, {{"axis", 1}});
  };
  const std::string out16 =
      mix(18, joined(17, down(16, out8, c[2], c[2]), up16), c[2] + c[3], c[3], last, false);
  const std::string out32 =
      mix(21, joined(20, down(19, out16, c[3], c[3]), at32), c[3] + c[4], c[4], last, false);

  const std::string all = model.node("/model.22/Concat", "Concat",
                                     {head(model, 0, out8, c[2], sizes, options.batch),
                                      head(model, 1, out16, c[3], sizes, options.batch),
                                      head(model, 2, out32, c[4], sizes, options.batch)},
                                     {{"axis", 2}});
  const std::int64_t side = options.image / 32;
  const std::int64_t anchors = 21 * side * side;
  const std::string widths = model.constant("/model.22/Constant", {4 * sizes.bins, sizes.classes});
  const std::vector<std::string> parts =
      model.node_with_outputs("/model.22/Split", "Split", {all, widths}, 2, {{"axis", 1}});
  const std::string boxes = distances(model, parts[0], options.batch, sizes.bins, anchors);
  const std::string scores = model.node("/model.22/Sigmoid", "Sigmoid", {parts[1]});
  x = model.node("/model.22/Concat_1", "Concat", {boxes, scores}, {{"axis", 1}});
  model.output(x, "output0", {options.batch, 4 + sizes.classes, anchors});
}

}  // namespace

void register_yolov8n(ModelRegistry& registry) {
  registry.add(
      {"yolov8n", "YOLOv8n detector; --image must be a multiple of 32", 13, write_yolov8n});
}

}  // namespace aoe::make_model
