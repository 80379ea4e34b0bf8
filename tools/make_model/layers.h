// Layers as PyTorch's exporter writes them, several nodes each. `name` is the module's path:
// "/layer1/layer1.0/conv1".
#pragma once

#include <string>

#include "tools/make_model/onnx_writer.h"

namespace aoe::make_model {

struct Conv {
  std::int64_t in = 0;
  std::int64_t out = 0;
  std::int64_t kernel = 1;
  std::int64_t stride = 1;
  std::int64_t pad = 0;
  std::int64_t groups = 1;
  bool has_bias = false;
};

std::string conv(OnnxWriter& model, const std::string& name, const std::string& x,
                 const Conv& conv);
/// BatchNormalization of its own, with statistics near 0 and 1; `gain` scales its gamma.
std::string batch_norm(OnnxWriter& model, const std::string& name, const std::string& x,
                       std::int64_t channels, double gain = 1);
std::string relu(OnnxWriter& model, const std::string& name, const std::string& x);
/// x * sigmoid(x)
std::string silu(OnnxWriter& model, const std::string& name, const std::string& x);
/// Gemm with transposed weights, for 2-D inputs.
std::string gemm(OnnxWriter& model, const std::string& name, const std::string& x, std::int64_t in,
                 std::int64_t out, double deviation);
/// MatMul and Add, which is what a linear layer becomes on inputs of more dimensions.
std::string linear(OnnxWriter& model, const std::string& name, const std::string& x,
                   std::int64_t in, std::int64_t out);
/// ReduceMean, Sub, Pow, ReduceMean, Add, Sqrt, Div, Mul, Add: before opset 17 there is no operator
/// for it.
std::string layer_norm(OnnxWriter& model, const std::string& name, const std::string& x,
                       std::int64_t size, float epsilon);
/// LayerNormalization, from opset 17 on.
std::string layer_norm_17(OnnxWriter& model, const std::string& name, const std::string& x,
                          std::int64_t size, float epsilon);
/// x * 0.5 * (1 + erf(x / sqrt(2)))
std::string gelu(OnnxWriter& model, const std::string& name, const std::string& x);

/// x.size(axis) as exporters of dynamic shapes write it: Shape, Constant, Gather; a scalar.
std::string size_of(OnnxWriter& model, const std::string& name, const std::string& x,
                    std::int64_t axis);
/// x.view(dims): each entry is a scalar value's name; Unsqueeze each, Concat, Reshape.
std::string view(OnnxWriter& model, const std::string& name, const std::string& x,
                 const std::vector<std::string>& dims);

}  // namespace aoe::make_model
