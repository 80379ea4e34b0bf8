// One training step of a multi-layer perceptron as plain ONNX nodes: forward, mean squared error,
// backward, SGD update. Weights go in and come out, so that a loop feeds them back.
//
// Tensors that are gradients are named "..._grad", by which the profiler tells the phases apart.
#include "tools/make_model/models.h"

namespace aoe::make_model {
namespace {

constexpr float kLearningRate = 0.01f;

/// What the backward pass needs of a layer's forward pass.
struct Layer {
  std::string name;
  std::string weight, bias;  ///< inputs of the model
  std::string input, sum;    ///< sum = input * weight + bias
  std::int64_t in = 0, out = 0;
};

Layer forward(OnnxWriter& model, const std::string& name, const std::string& input, std::int64_t in,
              std::int64_t out) {
  Layer layer{.name = name, .input = input, .in = in, .out = out};
  layer.weight = model.input(name + ".weight", {in, out});
  layer.bias = model.input(name + ".bias", {out});
  const std::string product = model.node("/" + name + "/MatMul", "MatMul", {input, layer.weight});
  layer.sum = model.node("/" + name + "/Add", "Add", {product, layer.bias});
  return layer;
}

std::string transposed(OnnxWriter& model, const std::string& name, const std::string& x) {
  return model.node(name, "Transpose", {x}, {{"perm", std::vector<std::int64_t>{1, 0}}});
}

/// The gradient of the layer's input.
std::string backward(OnnxWriter& model, const Layer& layer, const std::string& sum_grad) {
  const std::string weight = transposed(model, "/" + layer.name + "/Transpose", layer.weight);
  return model.node("/" + layer.name + "/input_grad", "MatMul", {sum_grad, weight});
}

/// Through the Relu: only where its input was above zero.
std::string relu_backward(OnnxWriter& model, const Layer& layer, const std::string& output_grad) {
  const std::string zero = model.constant("/" + layer.name + "/Constant_zero", 0.0f);
  const std::string is_on = model.node("/" + layer.name + "/Greater", "Greater", {layer.sum, zero});
  const std::string mask = model.node("/" + layer.name + "/Cast", "Cast", {is_on}, {{"to", 1}});
  return model.node("/" + layer.name + "/sum_grad", "Mul", {output_grad, mask});
}

void update(OnnxWriter& model, const Layer& layer, const std::string& sum_grad) {
  const std::string path = "/" + layer.name + "/";
  const std::string input = transposed(model, path + "Transpose_input", layer.input);
  const std::string weight_grad = model.node(path + "weight_grad", "MatMul", {input, sum_grad});
  const std::string axes = model.constant(path + "Constant_axes", std::vector<std::int64_t>{0});
  const std::string bias_grad =
      model.node(path + "bias_grad", "ReduceSum", {sum_grad, axes}, {{"keepdims", 0}});
  const std::string rate = model.constant(path + "Constant_rate", kLearningRate);
  const auto step = [&](const std::string& what, const std::string& value, const std::string& grad,
                        const Shape& shape) {
    const std::string change = model.node(path + what + "_change", "Mul", {grad, rate});
    model.output(model.node(path + what + "_update", "Sub", {value, change}),
                 layer.name + "." + what + ".new", shape);
  };
  step("weight", layer.weight, weight_grad, {layer.in, layer.out});
  step("bias", layer.bias, bias_grad, {layer.out});
}

void write_mlp_training(OnnxWriter& model, const ModelOptions& options) {
  const std::int64_t features = options.is_small ? 6 : 512, hidden = options.is_small ? 8 : 1024;
  const std::int64_t outputs = options.is_small ? 3 : 64;
  const std::string x = model.input("x", {options.batch, features});
  const std::string target = model.input("target", {options.batch, outputs});
  const std::string mean = model.uniform("x.mean", {features}, -0.5, 0.5);
  const std::string centred = model.node("/Sub", "Sub", {x, mean});

  const Layer first = forward(model, "fc1", centred, features, hidden);
  const std::string active = model.node("/fc1/Relu", "Relu", {first.sum});
  const Layer second = forward(model, "fc2", active, hidden, outputs);

  const std::string error = model.node("/loss/Sub", "Sub", {second.sum, target});
  const std::string squares = model.node("/loss/Mul", "Mul", {error, error});
  model.output(model.node("/loss/ReduceMean", "ReduceMean", {squares}, {{"keepdims", 0}}), "loss",
               {});

  const std::string scale =
      model.constant("/loss/Constant", 2.0f / static_cast<float>(options.batch * outputs));
  const std::string second_grad = model.node("/loss/error_grad", "Mul", {error, scale});
  const std::string active_grad = backward(model, second, second_grad);
  const std::string first_grad = relu_backward(model, first, active_grad);
  update(model, second, second_grad);
  update(model, first, first_grad);
}

}  // namespace

void register_mlp_training(ModelRegistry& registry) {
  registry.add({"mlp-training", "a training step of a two-layer perceptron: forward, backward, SGD",
                13, write_mlp_training});
}

}  // namespace aoe::make_model
