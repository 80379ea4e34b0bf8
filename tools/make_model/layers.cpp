// Layers as PyTorch's exporter writes them.
#include "tools/make_model/layers.h"

#include <cmath>

namespace aoe::make_model {
namespace {

/// "/layer1/layer1.0/conv1" -> "layer1.0.conv1": modules repeat their parents' names in node names,
/// parameters do not.
std::string parameter(const std::string& name, const std::string& kind) {
  std::string text;
  for (std::size_t begin = 1; begin < name.size();) {
    const std::size_t end = std::min(name.find('/', begin), name.size());
    const std::string part = name.substr(begin, end - begin);
    text = !text.empty() && part.starts_with(text + ".") ? part
                                                         : text + (text.empty() ? "" : ".") + part;
    begin = end + 1;
  }
  return text + "." + kind;
}

}  // namespace

std::string conv(OnnxWriter& model, const std::string& name, const std::string& x,
                 const Conv& conv) {
  const std::int64_t fan_in = conv.in / conv.groups * conv.kernel * conv.kernel;
  std::vector<std::string> inputs = {
      x, model.weight(parameter(name, "weight"),
                      {conv.out, conv.in / conv.groups, conv.kernel, conv.kernel},
                      he_deviation(fan_in))};
  if (conv.has_bias) inputs.push_back(model.weight(parameter(name, "bias"), {conv.out}, 0.02));
  return model.node(name + "/Conv", "Conv", inputs,
                    {{"dilations", std::vector<std::int64_t>{1, 1}},
                     {"group", static_cast<int>(conv.groups)},
                     {"kernel_shape", std::vector<std::int64_t>{conv.kernel, conv.kernel}},
                     {"pads", std::vector<std::int64_t>(4, conv.pad)},
                     {"strides", std::vector<std::int64_t>(2, conv.stride)}});
}

std::string batch_norm(OnnxWriter& model, const std::string& name, const std::string& x,
                       std::int64_t channels, double gain) {
  const std::string gamma =
      model.uniform(parameter(name, "weight"), {channels}, 0.8 * gain, 1.2 * gain);
  const std::string beta = model.uniform(parameter(name, "bias"), {channels}, -0.1, 0.1);
  const std::string mean = model.uniform(parameter(name, "running_mean"), {channels}, -0.1, 0.1);
  const std::string variance = model.uniform(parameter(name, "running_var"), {channels}, 0.6, 1.4);
  return model.node(name + "/BatchNormalization", "BatchNormalization",
                    {x, gamma, beta, mean, variance}, {{"epsilon", 1e-5f}, {"momentum", 0.9f}});
}

std::string relu(OnnxWriter& model, const std::string& name, const std::string& x) {
  return model.node(name + "/Relu", "Relu", {x});
}

std::string silu(OnnxWriter& model, const std::string& name, const std::string& x) {
  const std::string gate = model.node(name + "/Sigmoid", "Sigmoid", {x});
  return model.node(name + "/Mul", "Mul", {x, gate});
}

std::string gemm(OnnxWriter& model, const std::string& name, const std::string& x, std::int64_t in,
                 std::int64_t out, double deviation) {
  const std::string weight = model.weight(parameter(name, "weight"), {out, in}, deviation);
  const std::string bias = model.weight(parameter(name, "bias"), {out}, 0.02);
  return model.node(name + "/Gemm", "Gemm", {x, weight, bias},
                    {{"alpha", 1.0f}, {"beta", 1.0f}, {"transB", 1}});
}

std::string linear(OnnxWriter& model, const std::string& name, const std::string& x,
                   std::int64_t in, std::int64_t out) {
  const double deviation = std::sqrt(1.0 / static_cast<double>(in));  // no Relu follows
  const std::string weight =
      model.weight(parameter(name, "weight_transposed"), {in, out}, deviation);
  const std::string bias = model.weight(parameter(name, "bias"), {out}, 0.02);
  const std::string product = model.node(name + "/MatMul", "MatMul", {x, weight});
  return model.node(name + "/Add", "Add", {bias, product});
}

std::string layer_norm(OnnxWriter& model, const std::string& name, const std::string& x,
                       std::int64_t size, float epsilon) {
  const OnnxWriter::Attributes last_axis = {{"axes", std::vector<std::int64_t>{-1}}};
  const std::string mean = model.node(name + "/ReduceMean", "ReduceMean", {x}, last_axis);
  const std::string centred = model.node(name + "/Sub", "Sub", {x, mean});
  const std::string two = model.constant(name + "/Constant", 2.0f);
  const std::string square = model.node(name + "/Pow", "Pow", {centred, two});
  const std::string variance =
      model.node(name + "/ReduceMean_1", "ReduceMean", {square}, last_axis);
  const std::string small = model.constant(name + "/Constant_1", epsilon);
  const std::string sum = model.node(name + "/Add", "Add", {variance, small});
  const std::string deviation = model.node(name + "/Sqrt", "Sqrt", {sum});
  const std::string normal = model.node(name + "/Div", "Div", {centred, deviation});
  const std::string gamma = model.uniform(parameter(name, "weight"), {size}, 0.8, 1.2);
  const std::string beta = model.uniform(parameter(name, "bias"), {size}, -0.1, 0.1);
  const std::string scaled = model.node(name + "/Mul", "Mul", {normal, gamma});
  return model.node(name + "/Add_1", "Add", {scaled, beta});
}

std::string layer_norm_17(OnnxWriter& model, const std::string& name, const std::string& x,
                          std::int64_t size, float epsilon) {
  const std::string gamma = model.uniform(parameter(name, "weight"), {size}, 0.8, 1.2);
  const std::string beta = model.uniform(parameter(name, "bias"), {size}, -0.1, 0.1);
  return model.node(name + "/LayerNormalization", "LayerNormalization", {x, gamma, beta},
                    {{"axis", -1}, {"epsilon", epsilon}});
}

std::string gelu(OnnxWriter& model, const std::string& name, const std::string& x) {
  const std::string root = model.constant(name + "/Constant", std::sqrt(2.0f));
  const std::string scaled = model.node(name + "/Div", "Div", {x, root});
  const std::string erf = model.node(name + "/Erf", "Erf", {scaled});
  const std::string one = model.constant(name + "/Constant_1", 1.0f);
  const std::string sum = model.node(name + "/Add", "Add", {erf, one});
  const std::string product = model.node(name + "/Mul", "Mul", {x, sum});
  const std::string half = model.constant(name + "/Constant_2", 0.5f);
  return model.node(name + "/Mul_1", "Mul", {product, half});
}

std::string size_of(OnnxWriter& model, const std::string& name, const std::string& x,
                    std::int64_t axis) {
  const std::string shape = model.node(name + "/Shape", "Shape", {x});
  const std::string index = model.constant(name + "/Constant", {axis}, true);
  return model.node(name + "/Gather", "Gather", {shape, index}, {{"axis", 0}});
}

std::string view(OnnxWriter& model, const std::string& name, const std::string& x,
                 const std::vector<std::string>& dims) {
  const std::string axes = model.constant(name + "/Constant_axes", std::vector<std::int64_t>{0});
  std::vector<std::string> parts;
  for (const std::string& dim : dims) {
    const std::string part = name + "/Unsqueeze_" + std::to_string(parts.size());
    parts.push_back(model.node(part, "Unsqueeze", {dim, axes}));
  }
  const std::string shape = model.node(name + "/Concat", "Concat", parts, {{"axis", 0}});
  return model.node(name + "/Reshape", "Reshape", {x, shape});
}

}  // namespace aoe::make_model
