// ResNet-50 v1.5 and ResNeXt-50 (32x4d): bottleneck blocks with the stride in the 3x3 convolution.
#include <fmt/core.h>

#include "tools/make_model/layers.h"
#include "tools/make_model/models.h"

namespace aoe::make_model {
namespace {

std::string conv_norm(OnnxWriter& model, const std::string& block, const std::string& index,
                      const std::string& x, const Conv& shape, double gain = 1) {
  const std::string y = conv(model, block + "/conv" + index, x, shape);
  return batch_norm(model, block + "/bn" + index, y, shape.out, gain);
}

/// 1x1 down to `width`, 3x3 in `groups`, 1x1 up to `out`, and around them the identity or a 1x1
/// projection.
struct Bottleneck {
  std::int64_t in = 0, width = 0, out = 0, stride = 1, groups = 1;
};

std::string bottleneck(OnnxWriter& model, const std::string& name, const std::string& x,
                       const Bottleneck& b) {
  std::string y = conv_norm(model, name, "1", x, {.in = b.in, .out = b.width});
  y = relu(model, name + "/relu", y);
  y = conv_norm(model, name, "2", y,
                {.in = b.width,
                 .out = b.width,
                 .kernel = 3,
                 .stride = b.stride,
                 .pad = 1,
                 .groups = b.groups});
  y = relu(model, name + "/relu_1", y);
  // A small last gamma keeps the sum of many blocks in range, as training does.
  y = conv_norm(model, name, "3", y, {.in = b.width, .out = b.out}, 0.25);
  std::string shortcut = x;
  if (b.stride != 1 || b.in != b.out) {
    shortcut = conv(model, name + "/downsample/downsample.0", x,
                    {.in = b.in, .out = b.out, .stride = b.stride});
    shortcut = batch_norm(model, name + "/downsample/downsample.1", shortcut, b.out);
  }
  return relu(model, name + "/relu_2", model.node(name + "/Add", "Add", {y, shortcut}));
}

/// `widening`: of the 3x3 convolutions, against those of ResNet.
void write_network(OnnxWriter& model, const ModelOptions& options, std::int64_t groups,
                   std::int64_t widening) {
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
    const std::int64_t stage_width = width << stage;
    for (int block = 0; block < blocks[stage]; ++block) {
      const std::string name = fmt::format("/layer{0}/layer{0}.{1}", stage + 1, block);
      x = bottleneck(model, name, x,
                     {.in = in,
                      .width = widening * stage_width,
                      .out = 4 * stage_width,
                      .stride = block == 0 && stage > 0 ? 2 : 1,
                      .groups = groups});
      in = 4 * stage_width;
    }
  }
  x = model.node("/avgpool/GlobalAveragePool", "GlobalAveragePool", {x});
  x = model.node("/Flatten", "Flatten", {x}, {{"axis", 1}});
  x = gemm(model, "/fc", x, in, classes, he_deviation(in));
  model.output(x, "output", {options.batch, classes});
}

void write_resnet(OnnxWriter& model, const ModelOptions& options) {
  write_network(model, options, 1, 1);
}

void write_resnext(OnnxWriter& model, const ModelOptions& options) {
  write_network(model, options, options.is_small ? 4 : 32, 2);
}

}  // namespace

void register_resnet50(ModelRegistry& registry) {
  registry.add({"resnet50",
                "ResNet-50 v1.5, BatchNormalization of its own behind every convolution", 13,
                write_resnet});
  registry.add({"resnext50", "ResNeXt-50 (32x4d): ResNet-50 with 3x3 convolutions in 32 groups", 13,
                write_resnext});
}

}  // namespace aoe::make_model
