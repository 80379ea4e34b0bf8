// See model_file.h.
#include "quantize/model_file.h"

#include <onnx/onnx_pb.h>

#include <limits>
#include <set>

#include "base/error.h"
#include "base/memory.h"
#include "graph/import/onnx_proto.h"
#include "graph/import/text_table.h"
#include "quantize/constant_weights.h"

namespace aoe::quantize {
namespace {

bool is_quantising(const onnx::NodeProto& node) {
  const std::string& type = node.op_type();
  return type == "QuantizeLinear" || type == "DequantizeLinear" || type.starts_with("QLinear") ||
         type == "ConvInteger" || type == "MatMulInteger" || type == "DynamicQuantizeLinear";
}

/// As raw bytes in the model itself.
void embed(onnx::TensorProto& tensor, const Constant& value) {
  onnx::TensorProto plain;
  plain.set_name(tensor.name());
  plain.set_data_type(tensor.data_type());
  for (const std::int64_t dim : tensor.dims()) plain.add_dims(dim);
  plain.set_raw_data(value.data(), value.size_bytes());
  tensor.Swap(&plain);
}

void embed_all(onnx::GraphProto& graph, const graph::TensorReader& reader) {
  for (onnx::TensorProto& tensor : *graph.mutable_initializer()) {
    const bool is_external = tensor.data_location() == onnx::TensorProto::EXTERNAL;
    const bool is_float = tensor.data_type() == onnx::TensorProto::FLOAT;
    if (is_external || (is_float && !tensor.has_raw_data())) embed(tensor, *reader.read(tensor));
  }
}

void drop_inputs_that_are_weights(onnx::GraphProto& graph) {
  std::set<std::string> names;
  for (const onnx::TensorProto& tensor : graph.initializer()) names.insert(tensor.name());
  auto& inputs = *graph.mutable_input();
  int kept = 0;
  for (int i = 0; i < inputs.size(); ++i)
    if (!names.contains(inputs[i].name())) inputs.SwapElements(kept++, i);
  inputs.DeleteSubrange(kept, inputs.size() - kept);
}

}  // namespace

onnx::ModelProto load_float_model(const std::filesystem::path& path) {
  onnx::ModelProto model = graph::load_model(path);
  for (const onnx::NodeProto& node : model.graph().node())
    if (is_quantising(node))
      throw Error(ExitCode::kModel,
                  "is quantised already: node " + graph::describe(node) + " computes with bytes",
                  path.string(), "give the float32 model");
  graph::ImportBudget budget;
  graph::TextTable texts;
  const graph::TensorReader reader(path, budget, texts);
  onnx::GraphProto& graph = *model.mutable_graph();
  embed_all(graph, reader);
  drop_inputs_that_are_weights(graph);
  make_initializers_of_computed_weights(model, path);
  return model;
}

onnx::ModelProto copy_of(const onnx::ModelProto& model) {
  check_memory(model.ByteSizeLong(), "a copy of the model");
  return model;
}

std::vector<std::pair<std::string, TensorDesc>> inputs_of(const onnx::ModelProto& model) {
  std::vector<std::pair<std::string, TensorDesc>> inputs;
  for (const onnx::ValueInfoProto& input : model.graph().input())
    inputs.emplace_back(input.name(), graph::read_declaration(input));
  return inputs;
}

void show_values(onnx::ModelProto& model, const std::vector<std::string>& values) {
  auto& outputs = *model.mutable_graph()->mutable_output();
  outputs.Clear();
  for (const std::string& value : values) {
    onnx::ValueInfoProto& output = *outputs.Add();
    output.set_name(value);
    output.mutable_type()->mutable_tensor_type()->set_elem_type(onnx::TensorProto::FLOAT);
  }
}

std::string serialize(const onnx::ModelProto& model, const std::filesystem::path& path) {
  if (model.ByteSizeLong() > static_cast<std::size_t>(std::numeric_limits<int>::max()))
    throw Error(ExitCode::kModel,
                "is larger than 2 GB with its weights, which is more than one ONNX file can hold",
                path.string(), "quantise it where its weights fit one file");
  check_memory(model.ByteSizeLong(), "the model as one file");
  return model.SerializeAsString();
}

}  // namespace aoe::quantize
