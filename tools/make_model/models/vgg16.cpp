// VGG-16: 3x3 convolutions, poolings, three large Gemms.
#include <algorithm>

#include "tools/make_model/layers.h"
#include "tools/make_model/models.h"

namespace aoe::make_model {

namespace {

void write_vgg16(OnnxWriter& model, const ModelOptions& options) {
  const std::int64_t width = options.is_small ? 4 : 64, hidden = options.is_small ? 32 : 4096;
  const std::int64_t classes = options.is_small ? 10 : 1000;
  std::string x = model.input("input", {options.batch, 3, options.image, options.image});
  std::int64_t in = 3, side = options.image;
  int index = 0;
  const auto next = [&] { return "/features/features." + std::to_string(index++); };
  const int convs[] = {2, 2, 3, 3, 3};
  for (int stage = 0; stage < 5; ++stage) {
    const std::int64_t out = width << std::min(stage, 3);
    for (int i = 0; i < convs[stage]; ++i) {
      x = conv(model, next(), x, {.in = in, .out = out, .kernel = 3, .pad = 1, .has_bias = true});
      x = relu(model, next(), x);
      in = out;
    }
    x = model.node(next() + "/MaxPool", "MaxPool", {x},
                   {{"kernel_shape", std::vector<std::int64_t>{2, 2}},
                    {"strides", std::vector<std::int64_t>{2, 2}}});
    side /= 2;
  }
  // What adaptive pooling to 7x7 becomes when the image is 7x7 already; other sizes go on as they
  // are.
  if (side == 7)
    x = model.node("/avgpool/AveragePool", "AveragePool", {x},
                   {{"kernel_shape", std::vector<std::int64_t>{1, 1}},
                    {"strides", std::vector<std::int64_t>{1, 1}}});
  x = model.node("/Flatten", "Flatten", {x}, {{"axis", 1}});
  const std::int64_t flat = in * side * side;
  x = relu(model, "/classifier/classifier.1",
           gemm(model, "/classifier/classifier.0", x, flat, hidden, he_deviation(flat)));
  x = relu(model, "/classifier/classifier.4",
           gemm(model, "/classifier/classifier.3", x, hidden, hidden, he_deviation(hidden)));
  x = gemm(model, "/classifier/classifier.6", x, hidden, classes, he_deviation(hidden));
  model.output(x, "output", {options.batch, classes});
}

}  // namespace

void register_vgg16(ModelRegistry& registry) {
  registry.add({"vgg16", "VGG-16, large convolutions and Gemms", 13, write_vgg16});
}

}  // namespace aoe::make_model
