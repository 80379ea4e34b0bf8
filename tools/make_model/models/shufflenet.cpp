// ShuffleNet v1, four groups: units of grouped 1x1, channel shuffle, depthwise and grouped 1x1
// convolutions.
#include "base/ceil_div.h"
#include "tools/make_model/layers.h"
#include "tools/make_model/models.h"

namespace aoe::make_model {
namespace {

constexpr std::int64_t kGroups = 4;

struct Image {
  std::string value;
  std::int64_t channels = 0;
  std::int64_t size = 0;
};

std::string shuffle(OnnxWriter& model, const std::string& name, const Image& x,
                    std::int64_t batch) {
  const std::int64_t each = x.channels / kGroups;
  const std::string split = model.constant(name + "/split", {batch, kGroups, each, x.size, x.size});
  const std::string joined = model.constant(name + "/joined", {batch, x.channels, x.size, x.size});
  std::string y = model.node(name + "/Reshape", "Reshape", {x.value, split});
  y = model.node(name + "/Transpose", "Transpose", {y},
                 {{"perm", std::vector<std::int64_t>{0, 2, 1, 3, 4}}});
  return model.node(name + "/Reshape_1", "Reshape", {y, joined});
}

/// With stride 2 the input is pooled and stands beside the result; else it is added.
Image unit(OnnxWriter& model, const std::string& name, const Image& x, std::int64_t channels,
           std::int64_t stride, std::int64_t batch) {
  const std::int64_t out = stride == 2 ? channels - x.channels : channels;
  const std::int64_t middle = channels / 4;
  Image y{.channels = middle, .size = x.size};
  y.value = conv(model, name + "/compress", x.value,
                 {.in = x.channels, .out = middle, .groups = kGroups, .has_bias = true});
  y.value = relu(model, name + "/compress_relu", y.value);
  y.value = shuffle(model, name + "/shuffle", y, batch);
  y.value = conv(model, name + "/depthwise", y.value,
                 {.in = middle,
                  .out = middle,
                  .kernel = 3,
                  .stride = stride,
                  .pad = 1,
                  .groups = middle,
                  .has_bias = true});
  y.value = conv(model, name + "/expand", y.value,
                 {.in = middle, .out = out, .groups = kGroups, .has_bias = true});
  y.size = ceil_div(x.size, stride);
  y.channels = channels;
  if (stride == 1) {
    y.value = model.node(name + "/Add", "Add", {x.value, y.value});
    y.value = relu(model, name + "/relu", y.value);
    return y;
  }
  y.value = relu(model, name + "/relu", y.value);
  const std::string pooled = model.node(name + "/AveragePool", "AveragePool", {x.value},
                                        {{"kernel_shape", std::vector<std::int64_t>{3, 3}},
                                         {"pads", std::vector<std::int64_t>{1, 1, 1, 1}},
                                         {"strides", std::vector<std::int64_t>{2, 2}}});
  y.value = model.node(name + "/Concat", "Concat", {y.value, pooled}, {{"axis", 1}});
  return y;
}

void write_shufflenet(OnnxWriter& model, const ModelOptions& options) {
  const std::int64_t first = options.is_small ? 16 : 24, wide = options.is_small ? 64 : 272;
  const std::int64_t classes = options.is_small ? 10 : 1000;
  Image x{.channels = first, .size = (options.image + 1) / 2};
  x.value = model.input("input", {options.batch, 3, options.image, options.image});
  x.value = conv(model, "/conv1", x.value,
                 {.in = 3, .out = first, .kernel = 3, .stride = 2, .pad = 1, .has_bias = true});
  x.value = relu(model, "/relu1", x.value);
  x.value = model.node("/maxpool", "MaxPool", {x.value},
                       {{"kernel_shape", std::vector<std::int64_t>{3, 3}},
                        {"pads", std::vector<std::int64_t>{1, 1, 1, 1}},
                        {"strides", std::vector<std::int64_t>{2, 2}}});
  x.size = (x.size + 1) / 2;
  const std::int64_t units[] = {4, 8, 4};
  for (int stage = 0; stage < (options.is_small ? 2 : 3); ++stage) {
    const std::int64_t count = options.is_small ? 2 : units[stage];
    for (std::int64_t i = 0; i < count; ++i)
      x = unit(model, "/stage" + std::to_string(stage + 2) + "/unit" + std::to_string(i + 1), x,
               wide << stage, i == 0 ? 2 : 1, options.batch);
  }
  x.value = model.node("/GlobalAveragePool", "GlobalAveragePool", {x.value});
  x.value = model.node("/Flatten", "Flatten", {x.value}, {{"axis", 1}});
  x.value = gemm(model, "/fc", x.value, x.channels, classes, he_deviation(x.channels));
  model.output(x.value, "output", {options.batch, classes});
}

}  // namespace

void register_shufflenet(ModelRegistry& registry) {
  registry.add(
      {"shufflenet", "ShuffleNet v1, four groups, channel shuffles", 13, write_shufflenet});
}

}  // namespace aoe::make_model
