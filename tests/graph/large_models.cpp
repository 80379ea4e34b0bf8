// Blocks behind each other until there are enough nodes.
#include "tests/graph/large_models.h"

#include <functional>
#include <map>

#include "tools/make_model/onnx_writer.h"

namespace aoe::tests {
namespace {

using make_model::OnnxWriter;
using Ints = std::vector<std::int64_t>;

/// Counts what it writes, and names it.
class CountingWriter {
 public:
  explicit CountingWriter(OnnxWriter& model) : model_(model) {}

  std::size_t count() const { return count_; }

  std::string node(const std::string& type, const std::vector<std::string>& inputs,
                   const OnnxWriter::Attributes& attributes = {}) {
    return model_.node(type + std::to_string(count_++), type, inputs, attributes);
  }
  std::string scalar(float value) {
    return model_.constant("Constant" + std::to_string(count_++), value);
  }
  std::string ints(const Ints& values) {
    return model_.constant("Constant" + std::to_string(count_++), values);
  }
  std::string weight(const Shape& shape) {
    return model_.weight("weight" + std::to_string(weights_++), shape, 0.3);
  }

 private:
  OnnxWriter& model_;
  std::size_t count_ = 0, weights_ = 0;
};

constexpr std::int64_t kChannels = 8, kSize = 4, kTokens = 6, kWidth = 16;

std::string convolution(CountingWriter& w, const std::string& x, std::int64_t in,
                        std::int64_t out) {
  return w.node("Conv", {x, w.weight({out, in, 1, 1})});
}

std::string residual_block(CountingWriter& w, const std::string& x) {
  std::string y = convolution(w, x, kChannels, kChannels);
  y = w.node("BatchNormalization", {y, w.weight({kChannels}), w.weight({kChannels}),
                                    w.weight({kChannels}), w.node("Abs", {w.weight({kChannels})})});
  y = convolution(w, w.node("Relu", {y}), kChannels, kChannels);
  return w.node("Relu", {w.node("Add", {y, x})});
}

std::string module(CountingWriter& w, const std::string& x) {
  std::vector<std::string> branches;
  for (int i = 0; i < 3; ++i)
    branches.push_back(w.node("Relu", {convolution(w, x, kChannels, kChannels)}));
  branches.push_back(
      w.node("MaxPool", {x}, {{"kernel_shape", Ints{3, 3}}, {"pads", Ints{1, 1, 1, 1}}}));
  return convolution(w, w.node("Concat", branches, {{"axis", 1}}), 4 * kChannels, kChannels);
}

std::string normalised(CountingWriter& w, const std::string& x) {
  const OnnxWriter::Attributes last = {{"axes", Ints{-1}}};
  const std::string distance = w.node("Sub", {x, w.node("ReduceMean", {x}, last)});
  const std::string square = w.node("Pow", {distance, w.scalar(2)});
  const std::string variance = w.node("ReduceMean", {square}, last);
  const std::string deviation = w.node("Sqrt", {w.node("Add", {variance, w.scalar(1e-5f)})});
  const std::string y = w.node("Div", {distance, deviation});
  return w.node("Add", {w.node("Mul", {y, w.weight({kWidth})}), w.weight({kWidth})});
}

std::string heads(CountingWriter& w, const std::string& x, const Ints& perm) {
  const std::string y =
      w.node("Add", {w.node("MatMul", {x, w.weight({kWidth, kWidth})}), w.weight({kWidth})});
  const std::string parts = w.node("Reshape", {y, w.ints({1, kTokens, 2, kWidth / 2})});
  return w.node("Transpose", {parts}, {{"perm", perm}});
}

std::string layer(CountingWriter& w, const std::string& x) {
  const std::string n = normalised(w, x);
  const std::string q = heads(w, n, {0, 2, 1, 3}), k = heads(w, n, {0, 2, 3, 1}),
                    v = heads(w, n, {0, 2, 1, 3});
  const std::string scores = w.node("Mul", {w.node("MatMul", {q, k}), w.scalar(0.35f)});
  const std::string mixed = w.node("MatMul", {w.node("Softmax", {scores}, {{"axis", -1}}), v});
  const std::string flat = w.node(
      "Reshape",
      {w.node("Transpose", {mixed}, {{"perm", Ints{0, 2, 1, 3}}}), w.ints({1, kTokens, kWidth})});
  const std::string y = w.node("Add", {x, w.node("MatMul", {flat, w.weight({kWidth, kWidth})})});
  const std::string inner = w.node("MatMul", {normalised(w, y), w.weight({kWidth, kWidth})});
  const std::string erf = w.node("Erf", {w.node("Div", {inner, w.scalar(1.41421f)})});
  const std::string gelu =
      w.node("Mul", {w.node("Mul", {inner, w.node("Add", {erf, w.scalar(1)})}), w.scalar(0.5f)});
  return w.node("Add", {y, w.node("MatMul", {gelu, w.weight({kWidth, kWidth})})});
}

std::string arithmetic(CountingWriter& w, const std::string& x) {
  const std::string y = w.node("Mul", {w.node("Tanh", {x}), w.scalar(0.7f)});
  return w.node("Sub", {w.node("Sigmoid", {y}), w.scalar(0.25f)});
}

void write_star(OnnxWriter& model, CountingWriter& w, std::size_t nodes) {
  const Shape one = {1, kChannels, kSize, kSize};
  const std::string x = model.input("x", one);
  std::vector<std::string> parts;
  while (w.count() < nodes)
    parts.push_back(w.node("Mul", {convolution(w, x, kChannels, kChannels), w.scalar(0.5f)}));
  const auto all = static_cast<std::int64_t>(parts.size());
  model.output(w.node("Concat", parts, {{"axis", 1}}), "y", {1, all * kChannels, kSize, kSize});
}

/// As a step of training has them: every parameter that goes in comes out again.
void write_updates(OnnxWriter& model, CountingWriter& w, std::size_t nodes) {
  const Shape shape = {kWidth};
  const std::string x = model.input("x", shape);
  for (std::size_t i = 0; w.count() < nodes; ++i) {
    const std::string parameter = model.input("p" + std::to_string(i), shape);
    const std::string change = w.node("Mul", {w.node("Mul", {x, parameter}), w.scalar(0.01f)});
    model.output(w.node("Sub", {parameter, change}), "q" + std::to_string(i), shape);
  }
}

struct Form {
  Shape shape;  ///< of the input and of what each block makes
  std::function<std::string(CountingWriter&, const std::string&)> block;
  void (*write)(OnnxWriter&, CountingWriter&, std::size_t) = nullptr;  ///< instead of blocks
};

const std::map<std::string, Form>& forms() {
  static const std::map<std::string, Form> all = {
      {"chain", {{1, kChannels, kSize, kSize}, residual_block}},
      {"branches", {{1, kChannels, kSize, kSize}, module}},
      {"transformer", {{1, kTokens, kWidth}, layer}},
      {"elementwise", {{1, kWidth}, arithmetic}},
      {"star", {{}, nullptr, write_star}},
      {"updates", {{}, nullptr, write_updates}},
  };
  return all;
}

}  // namespace

const std::vector<std::string>& large_model_forms() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> list;
    for (const auto& [name, form] : forms()) list.push_back(name);
    return list;
  }();
  return names;
}

std::string large_model(const std::string& form, std::size_t nodes) {
  OnnxWriter model(form, {.opset = 13, .seed = 1});
  CountingWriter writer(model);
  const Form& wanted = forms().at(form);
  if (wanted.write != nullptr) {
    wanted.write(model, writer, nodes);
    return model.serialize();
  }
  std::string value = model.input("x", wanted.shape);
  while (writer.count() < nodes) value = wanted.block(writer, value);
  model.output(value, "y", wanted.shape);
  return model.serialize();
}

}  // namespace aoe::tests
