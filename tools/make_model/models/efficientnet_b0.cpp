// EfficientNet-B0: inverted residual blocks with squeeze-and-excitation; SiLU is written as Sigmoid
// and Mul.
#include <cmath>

#include "tools/make_model/layers.h"
#include "tools/make_model/models.h"

namespace aoe::make_model {
namespace {

std::string conv_norm_silu(OnnxWriter& model, const std::string& name, const std::string& x,
                           const Conv& shape) {
  std::string y = conv(model, name + ".0", x, shape);
  y = batch_norm(model, name + ".1", y, shape.out);
  return silu(model, name + ".2", y);
}

/// x * sigmoid(fc2(silu(fc1(mean of x)))), channel by channel.
std::string squeeze_excitation(OnnxWriter& model, const std::string& name, const std::string& x,
                               std::int64_t channels, std::int64_t squeezed) {
  std::string y = model.node(name + "/avgpool/GlobalAveragePool", "GlobalAveragePool", {x});
  y = conv(model, name + "/fc1", y, {.in = channels, .out = squeezed, .has_bias = true});
  y = silu(model, name + "/activation", y);
  y = conv(model, name + "/fc2", y, {.in = squeezed, .out = channels, .has_bias = true});
  y = model.node(name + "/scale_activation/Sigmoid", "Sigmoid", {y});
  return model.node(name + "/Mul", "Mul", {y, x});
}

struct EfficientStage {
  std::int64_t expansion, kernel, stride, channels;
  int blocks;
};

std::string block(OnnxWriter& model, const std::string& name, const std::string& x, std::int64_t in,
                  const EfficientStage& stage, std::int64_t stride) {
  const std::int64_t hidden = in * stage.expansion;
  std::string y = x;
  int index = 0;
  const auto next = [&] { return name + "/block/block." + std::to_string(index++); };
  if (stage.expansion != 1) y = conv_norm_silu(model, next(), y, {.in = in, .out = hidden});
  y = conv_norm_silu(model, next(), y,
                     {.in = hidden,
                      .out = hidden,
                      .kernel = stage.kernel,
                      .stride = stride,
                      .pad = stage.kernel / 2,
                      .groups = hidden});
  y = squeeze_excitation(model, next(), y, hidden, std::max<std::int64_t>(1, in / 4));
  const std::string last = next();
  y = conv(model, last + ".0", y, {.in = hidden, .out = stage.channels});
  y = batch_norm(model, last + ".1", y, stage.channels, 0.5);
  return stride == 1 && in == stage.channels ? model.node(name + "/Add", "Add", {y, x}) : y;
}

void write_efficientnet_b0(OnnxWriter& model, const ModelOptions& options) {
  const std::vector<EfficientStage> stages =
      options.is_small
          ? std::vector<EfficientStage>{{1, 3, 1, 8, 1}, {6, 5, 2, 12, 2}}
          : std::vector<EfficientStage>{{1, 3, 1, 16, 1}, {6, 3, 2, 24, 2},  {6, 5, 2, 40, 2},
                                        {6, 3, 2, 80, 3}, {6, 5, 1, 112, 3}, {6, 5, 2, 192, 4},
                                        {6, 3, 1, 320, 1}};
  const std::int64_t last = options.is_small ? 32 : 1280, classes = options.is_small ? 10 : 1000;
  std::int64_t in = options.is_small ? 8 : 32;
  std::string x = model.input("input", {options.batch, 3, options.image, options.image});
  x = conv_norm_silu(model, "/features/features.0/features.0", x,
                     {.in = 3, .out = in, .kernel = 3, .stride = 2, .pad = 1});
  int index = 1;
  for (const EfficientStage& stage : stages) {
    const std::string name = "/features/features." + std::to_string(index);
    for (int i = 0; i < stage.blocks; ++i) {
      const std::string part =
          name + "/features." + std::to_string(index) + "." + std::to_string(i);
      x = block(model, part, x, in, stage, i == 0 ? stage.stride : 1);
      in = stage.channels;
    }
    ++index;
  }
  const std::string name = "/features/features." + std::to_string(index);
  x = conv_norm_silu(model, name + name.substr(9), x, {.in = in, .out = last});
  x = model.node("/avgpool/GlobalAveragePool", "GlobalAveragePool", {x});
  x = model.node("/Flatten", "Flatten", {x}, {{"axis", 1}});
  x = gemm(model, "/classifier/classifier.1", x, last, classes, he_deviation(last));
  model.output(x, "output", {options.batch, classes});
}

}  // namespace

void register_efficientnet_b0(ModelRegistry& registry) {
  registry.add({"efficientnet-b0", "EfficientNet-B0, squeeze-and-excitation and SiLU", 13,
                write_efficientnet_b0});
}

}  // namespace aoe::make_model
