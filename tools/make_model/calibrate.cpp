// Ranges of a model's values, and folded normalisations: what has to be known and done before quantising.
#include <onnx/onnx_pb.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <random>
#include <vector>

#include "base/check.h"
#include "base/file.h"
#include "graph/onnx_import.h"
#include "tools/make_model/initializers.h"
#include "tools/make_model/quantize.h"

namespace aoe::make_model {
namespace {

/// Floats in [-2, 2); integers and bools are 0 or 1, which any embedding and any mask takes.
ConstantPtr random_input(const TensorDesc& desc, std::mt19937_64& random) {
  auto input = std::make_shared<Constant>(desc);
  const std::int64_t count = element_count(desc.shape);
  for (std::int64_t i = 0; i < count; ++i) {
    const auto bits = random() >> 40;
    if (desc.dtype == DataType::kFloat)
      static_cast<float*>(input->mutable_data())[i] = static_cast<float>(bits) * 0x1p-22f - 2.0f;
    else if (desc.dtype == DataType::kInt64)
      static_cast<std::int64_t*>(input->mutable_data())[i] = static_cast<std::int64_t>(bits & 1);
    else
      AOE_CHECK(false, "no random values of " + to_string(desc));
  }
  return input;
}

Range range_of(const Constant& values) {
  const auto* data = static_cast<const float*>(values.data());
  const auto [low, high] = std::minmax_element(data, data + element_count(values.desc().shape));
  return {*low, *high};
}

}  // namespace

std::map<std::string, Range> calibrate(const std::string& path, std::uint64_t seed) {
  const graph::Graph graph = graph::import_onnx(path, {});
  std::mt19937_64 random(seed);
  std::vector<ConstantPtr> values(graph.values.size());
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = graph.values[i].constant;
  for (const graph::ValueId id : graph.inputs)
    values[id] = random_input(graph.values[id].desc, random);
  for (const graph::NodeId id : graph.topological_order()) {
    const graph::Node& node = graph.nodes[id];
    std::vector<Tensor> inputs, outputs;
    for (const graph::ValueId input : node.inputs)
      inputs.push_back(input == graph::kNone ? Tensor{} : values[input]->view());
    for (const TensorDesc& desc : reference::infer(node.op, inputs, node.outputs.size())) {
      const graph::ValueId output = node.outputs[outputs.size()];
      outputs.push_back({desc, nullptr});
      if (output == graph::kNone) continue;
      auto value = std::make_shared<Constant>(desc);
      outputs.back().data = value->mutable_data();
      values[output] = std::move(value);
    }
    reference::run(node.op, inputs, outputs);
  }
  std::map<std::string, Range> ranges;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const bool is_float = values[i] && values[i]->desc().dtype == DataType::kFloat;
    if (is_float && element_count(values[i]->desc().shape) > 0)
      ranges[graph.values[i].name] = range_of(*values[i]);
  }
  return ranges;
}

void fold_batch_norms(onnx::ModelProto& model) {
  onnx::GraphProto& graph = *model.mutable_graph();
  Initializers initializers(graph);
  std::map<std::string, onnx::NodeProto*> convolutions;  // by output
  for (onnx::NodeProto& node : *graph.mutable_node())
    if (node.op_type() == "Conv") convolutions[node.output(0)] = &node;
  for (int n = 0; n < graph.node_size(); ++n) {
    const onnx::NodeProto norm = graph.node(n);
    if (norm.op_type() != "BatchNormalization" || !convolutions.contains(norm.input(0))) continue;
    onnx::NodeProto& conv = *convolutions.at(norm.input(0));
    float epsilon = 1e-5f;
    for (const auto& attribute : norm.attribute())
      if (attribute.name() == "epsilon") epsilon = attribute.f();
    const auto gamma = initializers.floats(norm.input(1)),
               beta = initializers.floats(norm.input(2));
    const auto mean = initializers.floats(norm.input(3));
    const auto variance = initializers.floats(norm.input(4));
    auto weight = initializers.floats(conv.input(1));
    std::vector<float> bias(gamma.size());
    if (conv.input_size() > 2) bias = initializers.floats(conv.input(2));
    const std::size_t per_channel = weight.size() / gamma.size();
    for (std::size_t c = 0; c < gamma.size(); ++c) {
      const float factor = gamma[c] / std::sqrt(variance[c] + epsilon);
      for (std::size_t i = 0; i < per_channel; ++i) weight[c * per_channel + i] *= factor;
      bias[c] = (bias[c] - mean[c]) * factor + beta[c];
    }
    initializers.set(conv.input(1), initializers.shape(conv.input(1)), weight);
    const std::string bias_name = conv.input(1) + "_bias";
    initializers.set(bias_name, {static_cast<std::int64_t>(bias.size())}, bias);
    if (conv.input_size() == 2) conv.add_input();
    conv.set_input(2, bias_name);
    conv.set_output(0, norm.output(0));
    graph.mutable_node()->DeleteSubrange(n--, 1);
  }
}

std::string quantized(const std::string& model_bytes, QuantForm form, std::uint64_t seed,
                      const std::string& scratch_path) {
  onnx::ModelProto model;
  AOE_CHECK(model.ParseFromString(model_bytes), "the generated model does not parse");
  fold_batch_norms(model);
  write_file_atomically(scratch_path, model.SerializeAsString());
  const struct Remove {
    std::string path;
    ~Remove() {
      std::error_code status;
      std::filesystem::remove(path, status);  // left behind, it harms nobody
    }
  } remove{scratch_path};
  quantize(model, calibrate(scratch_path, seed), form);
  return model.SerializeAsString();
}

}  // namespace aoe::make_model
