// MobileNetV2: inverted residual blocks; ReLU6 is written as Clip with two constants.
#include "tools/make_model/layers.h"
#include "tools/make_model/models.h"

namespace aoe::make_model {
namespace {

std::string relu6(OnnxWriter& model, const std::string& name, const std::string& x) {
  const std::string low = model.constant(name + "/Constant", 0.0f);
  const std::string high = model.constant(name + "/Constant_1", 6.0f);
  return model.node(name + "/Clip", "Clip", {x, low, high});
}

/// Convolution, BatchNormalization, ReLU6: indices 0, 1, 2 of a sequence named `name`.
std::string conv_norm_relu6(OnnxWriter& model, const std::string& name, const std::string& x,
                            const Conv& shape) {
  std::string y = conv(model, name + ".0", x, shape);
  y = batch_norm(model, name + ".1", y, shape.out);
  return relu6(model, name + ".2", y);
}

struct MobileStage {
  std::int64_t expansion, channels;
  int blocks;
  std::int64_t stride;
};

std::string inverted_residual(OnnxWriter& model, const std::string& name, const std::string& x,
                              std::int64_t in, const MobileStage& stage, std::int64_t stride) {
  const std::int64_t hidden = in * stage.expansion;
  std::string y = x;
  int index = 0;
  const auto next = [&] { return name + "/conv/conv." + std::to_string(index++); };
  if (stage.expansion != 1) y = conv_norm_relu6(model, next(), y, {.in = in, .out = hidden});
  y = conv_norm_relu6(
      model, next(), y,
      {.in = hidden, .out = hidden, .kernel = 3, .stride = stride, .pad = 1, .groups = hidden});
  y = conv(model, next(), y, {.in = hidden, .out = stage.channels});
  y = batch_norm(model, next(), y, stage.channels, 0.5);
  return stride == 1 && in == stage.channels ? model.node(name + "/Add", "Add", {x, y}) : y;
}

void write_mobilenetv2(OnnxWriter& model, const ModelOptions& options) {
  const std::vector<MobileStage> stages =
      options.is_small
          ? std::vector<MobileStage>{{1, 8, 1, 1}, {4, 12, 2, 2}, {4, 16, 2, 2}}
          : std::vector<MobileStage>{{1, 16, 1, 1}, {6, 24, 2, 2},  {6, 32, 3, 2}, {6, 64, 4, 2},
                                     {6, 96, 3, 1}, {6, 160, 3, 2}, {6, 320, 1, 1}};
  const std::int64_t last = options.is_small ? 32 : 1280, classes = options.is_small ? 10 : 1000;
  std::int64_t in = options.is_small ? 8 : 32;
  std::string x = model.input("input", {options.batch, 3, options.image, options.image});
  x = conv_norm_relu6(model, "/features/features.0/features.0", x,
                      {.in = 3, .out = in, .kernel = 3, .stride = 2, .pad = 1});
  int index = 1;
  for (const MobileStage& stage : stages) {
    for (int block = 0; block < stage.blocks; ++block) {
      const std::string name = "/features/features." + std::to_string(index++);
      x = inverted_residual(model, name, x, in, stage, block == 0 ? stage.stride : 1);
      in = stage.channels;
    }
  }
  const std::string name = "/features/features." + std::to_string(index);
  x = conv_norm_relu6(model, name + name.substr(9), x, {.in = in, .out = last});
  x = model.node("/GlobalAveragePool", "GlobalAveragePool", {x});
  x = model.node("/Flatten", "Flatten", {x}, {{"axis", 1}});
  x = gemm(model, "/classifier/classifier.1", x, last, classes, he_deviation(last));
  model.output(x, "output", {options.batch, classes});
}

}  // namespace

void register_mobilenetv2(ModelRegistry& registry) {
  registry.add(
      {"mobilenetv2", "MobileNetV2 1.0, depthwise convolutions and ReLU6", 13, write_mobilenetv2});
}

}  // namespace aoe::make_model
