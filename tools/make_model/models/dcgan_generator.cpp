// DCGAN generator: transposed convolutions that double the image, from 1x1 to 64x64.
#include <cmath>

#include "tools/make_model/layers.h"
#include "tools/make_model/models.h"

namespace aoe::make_model {
namespace {

std::string conv_transpose(OnnxWriter& model, const std::string& name, const std::string& x,
                           std::int64_t in, std::int64_t out, std::int64_t stride,
                           std::int64_t pad) {
  constexpr std::int64_t kKernel = 4;
  // Every output element sums over kernel/stride taps along each axis.
  const std::int64_t taps = kKernel / stride;
  const double deviation = he_deviation(in * (stride == 1 ? 1 : taps * taps));
  const std::string weight =
      model.weight(name.substr(1) + ".weight", {in, out, kKernel, kKernel}, deviation);
  return model.node("/main" + name + "/ConvTranspose", "ConvTranspose", {x, weight},
                    {{"dilations", std::vector<std::int64_t>{1, 1}},
                     {"group", 1},
                     {"kernel_shape", std::vector<std::int64_t>{kKernel, kKernel}},
                     {"pads", std::vector<std::int64_t>(4, pad)},
                     {"strides", std::vector<std::int64_t>(2, stride)}});
}

void write_dcgan_generator(OnnxWriter& model, const ModelOptions& options) {
  const std::int64_t noise = 100, width = options.is_small ? 4 : 64;
  std::string x = model.input("input", {options.batch, noise, 1, 1});
  std::int64_t in = noise;
  int index = 0;
  for (const std::int64_t factor : {8, 4, 2, 1}) {
    const std::int64_t out = factor * width;
    const auto name = [&] { return "/main." + std::to_string(index++); };
    x = conv_transpose(model, name(), x, in, out, in == noise ? 1 : 2, in == noise ? 0 : 1);
    x = batch_norm(model, "/main" + name(), x, out);
    x = relu(model, "/main" + name(), x);
    in = out;
  }
  x = conv_transpose(model, "/main." + std::to_string(index), x, in, 3, 2, 1);
  x = model.node("/main/main." + std::to_string(index + 1) + "/Tanh", "Tanh", {x});
  model.output(x, "output", {options.batch, 3, 64, 64});
}

}  // namespace

void register_dcgan_generator(ModelRegistry& registry) {
  registry.add({"dcgan-generator", "DCGAN generator, 100 numbers to a 64x64 image", 13,
                write_dcgan_generator});
}

}  // namespace aoe::make_model
