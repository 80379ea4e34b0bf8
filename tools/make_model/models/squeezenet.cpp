// SqueezeNet 1.1: fire modules that squeeze with 1x1 and expand with 1x1 beside 3x3.
#include "tools/make_model/layers.h"
#include "tools/make_model/models.h"

namespace aoe::make_model {
namespace {

std::string fire(OnnxWriter& model, const std::string& name, const std::string& x, std::int64_t in,
                 std::int64_t squeeze, std::int64_t expand) {
  std::string s = conv(model, name + "/squeeze", x, {.in = in, .out = squeeze, .has_bias = true});
  s = relu(model, name + "/squeeze_activation", s);
  std::string narrow =
      conv(model, name + "/expand1x1", s, {.in = squeeze, .out = expand, .has_bias = true});
  narrow = relu(model, name + "/expand1x1_activation", narrow);
  std::string wide = conv(model, name + "/expand3x3", s,
                          {.in = squeeze, .out = expand, .kernel = 3, .pad = 1, .has_bias = true});
  wide = relu(model, name + "/expand3x3_activation", wide);
  return model.node(name + "/Concat", "Concat", {narrow, wide}, {{"axis", 1}});
}

std::string max_pool(OnnxWriter& model, const std::string& name, const std::string& x) {
  return model.node(name + "/MaxPool", "MaxPool", {x},
                    {{"ceil_mode", 1},
                     {"kernel_shape", std::vector<std::int64_t>{3, 3}},
                     {"pads", std::vector<std::int64_t>{0, 0, 0, 0}},
                     {"strides", std::vector<std::int64_t>{2, 2}}});
}

void write_squeezenet(OnnxWriter& model, const ModelOptions& options) {
  const std::int64_t unit = options.is_small ? 4 : 16, classes = options.is_small ? 10 : 1000;
  std::string x = model.input("input", {options.batch, 3, options.image, options.image});
  x = conv(model, "/features/features.0", x,
           {.in = 3, .out = 4 * unit, .kernel = 3, .stride = 2, .has_bias = true});
  x = relu(model, "/features/features.1", x);
  std::int64_t in = 4 * unit;
  int index = 2;
  for (const std::int64_t squeeze :
       {0, 1, 1, 0, 2, 2, 0, 3, 3, 4, 4}) {  // in units; 0 is a pooling
    const std::string name = "/features/features." + std::to_string(index++);
    if (squeeze == 0) {
      x = max_pool(model, name, x);
      continue;
    }
    x = fire(model, name, x, in, squeeze * unit, 4 * squeeze * unit);
    in = 8 * squeeze * unit;
  }
  x = conv(model, "/classifier/classifier.1", x, {.in = in, .out = classes, .has_bias = true});
  x = relu(model, "/classifier/classifier.2", x);
  x = model.node("/classifier/classifier.3/GlobalAveragePool", "GlobalAveragePool", {x});
  x = model.node("/Flatten", "Flatten", {x}, {{"axis", 1}});
  model.output(x, "output", {options.batch, classes});
}

}  // namespace

void register_squeezenet(ModelRegistry& registry) {
  registry.add(
      {"squeezenet", "SqueezeNet 1.1, small convolutions and Concat", 13, write_squeezenet});
}

}  // namespace aoe::make_model
