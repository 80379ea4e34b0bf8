// ResNet-50 v1.5: bottleneck blocks with the stride in the 3x3 convolution.
#include "tools/make_model/layers.h"
#include "tools/make_model/models.h"

namespace aoe::make_model {
namespace {

std::string conv_norm(OnnxWriter& model, const std::string& block, const std::string& index,
                      const std::string& x, const Conv& shape, double gain = 1) {
  const std::string y = conv(model, block + "/conv" + index, x, shape);
  return batch_norm(model, block + "/bn" + index, y, shape.out, gain);
}

/// 1x1 down to `width`, 3x3, 1x1 up to four times `width`, and around them the identity or a 1x1
/// projection.
std::string bottleneck(OnnxWriter& model, const std::string& name, const std::string& x,
                       std::int64_t in, std::int64_t width, std::int64_t stride) {
  std::string y = conv_norm(model, name, "1", x, {.in = in, .out = width});
  y = relu(model, name + "/relu", y);
  y = conv_norm(model, name, "2", y,
                {.in = width, .out = width, .kernel = 3, .stride = stride, .pad = 1});
  y = relu(model, name + "/relu_1", y);
  // A small last gamma keeps the sum of many blocks in range, as training does.
  y = conv_norm(model, name, "3", y, {.in = width, .out = 4 * width}, 0.25);
  std::string shortcut = x;
  if (stride != 1 || in != 4 * width) {
    shortcut = conv(model, name + "/downsample/downsample.0", x,
                    {.in = in, .out = 4 * width, .stride = stride});
    shortcut = batch_norm(model, name + "/downsample/downsample.1", shortcut, 4 * width);
  }
  return relu(model, name + "/relu_2", model.node(name + "/Add", "Add", {y, shortcut}));
}

void write_model(OnnxWriter& model, const ModelOptions& options) {
  const std::int64_t width = options.is_small ? 8 : 64, classes = options.is_small ? 10 : 1000;
  const std::vector<int> blocks =
      options.is_small ? std::vector<int>{1, 1, 1, 1} : std::vector<int>{3, 4, 6, 3};
  std::string x = model.input("input", {options.batch, 3, options.image, options.image});
  x = conv_norm(model, "", "1", x, {.in = 3, .out = width, .kernel = 7, .stride = 2, .pad = 3});
  x = relu(model, "/relu", x);
  x = model.node("/maxpool/MaxPool", "MaxPool", {x},
                 {{"kernel_shape", std::vector<std::int64_t>{3, 3}},
                  {"pads", std::vector<std::int64_t>{1, 1, 1, 1}},
                  {"strides", std::vector<std::int64_t>{2, 2}}});
  std::int64_t in = width;
  for (std::size_t stage = 0; stage < blocks.size(); ++stage) {
    const std::int64_t block_width = width << stage;
    const std::string layer = "layer" + std::to_string(stage + 1);
    for (int block = 0; block < blocks[stage]; ++block) {
      const std::string name = "/" + layer + "/" + layer + "." + std::to_string(block);
      x = bottleneck(model, name, x, in, block_width, block == 0 && stage > 0 ? 2 : 1);
      in = 4 * block_width;
    }
  }
  x = model.node("/avgpool/GlobalAveragePool", "GlobalAveragePool", {x});
  x = model.node("/Flatten", "Flatten", {x}, {{"axis", 1}});
  x = gemm(model, "/fc", x, in, classes, he_deviation(in));
  model.output(x, "output", {options.batch, classes});
}

}  // namespace

void register_resnet50(ModelRegistry& registry) {
  registry.add({"resnet50",
                "ResNet-50 v1.5, BatchNormalization of its own behind every convolution", 13,
                write_model});
}

}  // namespace aoe::make_model
