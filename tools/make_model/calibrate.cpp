// Ranges of a generated model's values.
#include <onnx/onnx_pb.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <random>
#include <vector>

#include "base/check.h"
#include "base/file.h"
#include "graph/import/onnx_import.h"
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

quantize::Range range_of(const Constant& values) {
  const auto* data = static_cast<const float*>(values.data());
  const auto [low, high] = std::minmax_element(data, data + element_count(values.desc().shape));
  return {*low, *high};
}

}  // namespace

quantize::Ranges calibrate(const std::string& path, std::uint64_t seed,
                           const std::map<std::string, Shape>& input_shapes) {
  const graph::Graph graph = graph::import_onnx(path, {.input_shapes = input_shapes});
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
  quantize::Ranges ranges;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const bool is_float = values[i] && values[i]->desc().dtype == DataType::kFloat;
    if (is_float && element_count(values[i]->desc().shape) > 0)
      ranges[graph.values[i].name] = range_of(*values[i]);
  }
  return ranges;
}

std::string quantized(const std::string& model_bytes, quantize::QuantForm form, std::uint64_t seed,
                      const std::string& scratch_path,
                      const std::map<std::string, Shape>& input_shapes) {
  onnx::ModelProto model;
  AOE_CHECK(model.ParseFromString(model_bytes), "the generated model does not parse");
  quantize::fold_batch_norms(model);
  write_file_atomically(scratch_path, model.SerializeAsString());
  const struct Remove {
    std::string path;
    ~Remove() {
      std::error_code status;
      std::filesystem::remove(path, status);  // left behind, it harms nobody
    }
  } remove{scratch_path};
  quantize::write_qdq(model, calibrate(scratch_path, seed, input_shapes), {.form = form});
  return model.SerializeAsString();
}

}  // namespace aoe::make_model
