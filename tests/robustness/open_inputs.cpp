// See open_inputs.h.
#include "tests/robustness/open_inputs.h"

#include <algorithm>
#include <map>
#include <string>

namespace aoe::tests {

onnx::ModelProto with_open_inputs(onnx::ModelProto model, std::uint32_t seed) {
  Random random(~seed);
  int names = 0;
  for (auto& input : *model.mutable_graph()->mutable_input()) {
    auto& type = *input.mutable_type()->mutable_tensor_type();
    for (auto& dim : *type.mutable_shape()->mutable_dim()) {
      if (random.one_in(2)) continue;
      const std::int64_t size = dim.dim_value();
      dim.set_dim_param(random.one_in(2) ? "size" + std::to_string(size)
                                         : "n" + std::to_string(names++));
    }
  }
  for (auto& output : *model.mutable_graph()->mutable_output())
    output.mutable_type()->mutable_tensor_type()->clear_shape();
  return model;
}

graph::ImportOptions open_sizes_of(const onnx::ModelProto& model) {
  graph::ImportOptions options;
  for (const auto& input : model.graph().input()) {
    Shape shape;
    for (const auto& dim : input.type().tensor_type().shape().dim())
      shape.push_back(dim.has_dim_value() ? dim.dim_value() : kUnknownDim);
    if (!is_static(shape)) options.input_shapes[input.name()] = shape;
  }
  return options;
}

namespace {

/// A sum of Einsum over two dimensions that only a run knows is a product, in which neither stretches: a run that has 1 in one of them is refused.
bool has_einsum(const onnx::GraphProto& graph) {
  for (const auto& node : graph.node()) {
    if (node.op_type() == "Einsum") return true;
    for (const auto& attribute : node.attribute())
      if (attribute.has_g() && has_einsum(attribute.g())) return true;
  }
  return false;
}

}  // namespace

graph::ImportOptions other_sizes_of(const onnx::ModelProto& model, const onnx::ModelProto& given,
                                    Random& random) {
  constexpr std::size_t kMost = 40;
  std::map<std::string, std::int64_t> sizes;
  graph::ImportOptions options;
  for (int i = 0; i < model.graph().input_size(); ++i) {
    const auto& dims = model.graph().input(i).type().tensor_type().shape().dim();
    const auto& known = given.graph().input(i).type().tensor_type().shape().dim();
    Shape shape;
    for (int d = 0; d < dims.size(); ++d) {
      shape.push_back(known[d].dim_value());
      if (dims[d].has_dim_value()) continue;
      std::int64_t size = random.one_in(2) ? 1 + random.below(kMost) : shape.back();
      if (std::min(size, shape.back()) == 1 && has_einsum(model.graph())) size = shape.back();
      shape.back() = sizes.emplace(dims[d].dim_param(), size).first->second;
    }
    options.input_shapes[model.graph().input(i).name()] = shape;
  }
  return options;
}

}  // namespace aoe::tests
