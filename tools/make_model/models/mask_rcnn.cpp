// A two-stage detector in the manner of Mask R-CNN: boxes are proposed along a feature map, and what is left of them behind
// NonMaxSuppression, a number that only a run tells, gets a class, a finer box and a mask. Smaller than the original: one feature map of
// stride 16, one image.
#include "tools/make_model/layers.h"
#include "tools/make_model/models.h"

namespace aoe::make_model {
namespace {

struct RcnnSizes {
  std::vector<std::int64_t> channels = {32, 64, 128,
                                        256};  ///< of the backbone's stages, each of stride 2
  std::int64_t hidden = 1024, classes = 91, box = 7, mask = 14;
  std::int64_t most_boxes = 100;
};

constexpr std::int64_t kStride = 16;
const std::vector<float> kAnchorSides = {24, 48, 96};

std::string conv_relu(OnnxWriter& model, const std::string& name, const std::string& x,
                      Conv shape) {
  shape.has_bias = true;
  shape.pad = shape.kernel / 2;
  return relu(model, name, conv(model, name, x, shape));
}

/// Corners of the anchors, pixel by pixel of the feature map.
std::vector<float> anchors(std::int64_t side) {
  std::vector<float> corners;
  for (std::int64_t y = 0; y < side; ++y)
    for (std::int64_t x = 0; x < side; ++x)
      for (const float length : kAnchorSides) {
        const float half = length / 2, stride = kStride;
        const float center_x = (static_cast<float>(x) + 0.5f) * stride,
                    center_y = (static_cast<float>(y) + 0.5f) * stride;
        corners.insert(corners.end(),
                       {center_x - half, center_y - half, center_x + half, center_y + half});
      }
  return corners;
}

/// A value for each anchor, `width` of them, pixel by pixel: 1 x anchors x width, or 1 x 1 x anchors of one.
std::string by_anchor(OnnxWriter& model, const std::string& name, const std::string& x,
                      std::int64_t in, std::int64_t width) {
  const auto out = static_cast<std::int64_t>(kAnchorSides.size()) * width;
  const std::string y = conv(model, name, x, {.in = in, .out = out, .has_bias = true});
  const std::string last = model.node(name + "/Transpose", "Transpose", {y},
                                      {{"perm", std::vector<std::int64_t>{0, 2, 3, 1}}});
  const Shape shape = width == 1 ? Shape{1, 1, -1} : Shape{1, -1, width};
  return model.node(name + "/Reshape", "Reshape",
                    {last, model.constant(name + "/Constant", shape)});
}

struct Boxes {
  std::string corners, images;  ///< boxes x 4; for each the number of its image
};

/// The best boxes that overlap little.
Boxes propose(OnnxWriter& model, const std::string& features, std::int64_t in, std::int64_t side,
              const RcnnSizes& sizes) {
  const std::string hidden =
      conv_relu(model, "/rpn/conv", features, {.in = in, .out = in, .kernel = 3});
  const std::string scores =
      model.node("/rpn/Sigmoid", "Sigmoid", {by_anchor(model, "/rpn/scores", hidden, in, 1)});
  const auto count = side * side * static_cast<std::int64_t>(kAnchorSides.size());
  const std::string all = model.node("/rpn/Add", "Add",
                                     {by_anchor(model, "/rpn/deltas", hidden, in, 4),
                                      model.floats("rpn.anchors", {1, count, 4}, anchors(side))});
  const std::string kept = model.node(
      "/rpn/NonMaxSuppression", "NonMaxSuppression",
      {all, scores, model.constant("/rpn/most", Shape{sizes.most_boxes}),
       model.floats("rpn.overlap", {1}, {0.5f}), model.floats("rpn.least", {1}, {0.0f})});
  const std::string places =
      model.node("/rpn/Gather", "Gather", {kept, model.constant("/rpn/column", Shape{2}, true)},
                 {{"axis", 1}});
  const std::string flat =
      model.node("/rpn/Squeeze", "Squeeze", {all, model.constant("/rpn/axes", Shape{0})});
  return {model.node("/rpn/Gather_1", "Gather", {flat, places}, {{"axis", 0}}),
          model.node("/rpn/Mul", "Mul", {places, model.constant("/rpn/zero", Shape{0}, true)})};
}

std::string pooled(OnnxWriter& model, const std::string& name, const std::string& features,
                   const Boxes& boxes, std::int64_t side) {
  return model.node(name + "/RoiAlign", "RoiAlign", {features, boxes.corners, boxes.images},
                    {{"output_height", static_cast<int>(side)},
                     {"output_width", static_cast<int>(side)},
                     {"sampling_ratio", 2},
                     {"spatial_scale", 1.0f / kStride}});
}

void write_mask_rcnn(OnnxWriter& model, const ModelOptions& options) {
  RcnnSizes sizes;
  if (options.is_small)
    sizes = {.channels = {4, 8, 8, 16},
             .hidden = 32,
             .classes = 5,
             .box = 3,
             .mask = 4,
             .most_boxes = 10};
  std::string x = model.input("image", {1, 3, options.image, options.image});
  std::int64_t in = 3;
  for (std::size_t i = 0; i < sizes.channels.size(); ++i) {
    const std::int64_t out = sizes.channels[i];
    x = conv_relu(model, "/backbone/stage" + std::to_string(i), x,
                  {.in = in, .out = out, .kernel = 3, .stride = 2});
    in = out;
  }
  const Boxes boxes = propose(model, x, in, options.image / kStride, sizes);

  const std::string window = pooled(model, "/box", x, boxes, sizes.box);
  std::string rows = model.node("/box/Flatten", "Flatten", {window}, {{"axis", 1}});
  const std::int64_t width = in * sizes.box * sizes.box;
  rows = relu(model, "/box/fc6",
              gemm(model, "/box/fc6", rows, width, sizes.hidden, he_deviation(width)));
  rows =
      relu(model, "/box/fc7",
           gemm(model, "/box/fc7", rows, sizes.hidden, sizes.hidden, he_deviation(sizes.hidden)));
  const std::string logits = gemm(model, "/box/classes", rows, sizes.hidden, sizes.classes, 0.02);
  const std::string deltas =
      gemm(model, "/box/deltas", rows, sizes.hidden, 4 * sizes.classes, 0.02);

  std::string images = pooled(model, "/mask", x, boxes, sizes.mask);
  for (int i = 0; i < 4; ++i)
    images = conv_relu(model, "/mask/conv" + std::to_string(i), images,
                       {.in = in, .out = in, .kernel = 3});
  images = model.node("/mask/ConvTranspose", "ConvTranspose",
                      {images, model.weight("mask.up.weight", {in, in, 2, 2}, he_deviation(in))},
                      {{"kernel_shape", std::vector<std::int64_t>{2, 2}},
                       {"strides", std::vector<std::int64_t>{2, 2}}});
  images = conv(model, "/mask/logits", relu(model, "/mask/up", images),
                {.in = in, .out = sizes.classes, .has_bias = true});

  constexpr std::int64_t kOpen = -1;
  model.output(boxes.corners, "boxes", {kOpen, 4});
  model.output(model.node("/box/Softmax", "Softmax", {logits}, {{"axis", -1}}), "scores",
               {kOpen, sizes.classes});
  model.output(deltas, "deltas", {kOpen, 4 * sizes.classes});
  model.output(model.node("/mask/Sigmoid", "Sigmoid", {images}), "masks",
               {kOpen, sizes.classes, 2 * sizes.mask, 2 * sizes.mask});
}

}  // namespace

void register_mask_rcnn(ModelRegistry& registry) {
  registry.add({"mask-rcnn",
                "two-stage detector, whose number of boxes only a run tells; --image must be a "
                "multiple of 16",
                16, write_mask_rcnn});
}

}  // namespace aoe::make_model
