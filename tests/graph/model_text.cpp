// Parsing models from text.
#include "tests/graph/model_text.h"

#include <onnx/defs/parser.h>

#include <algorithm>
#include <random>
#include <set>
#include <stdexcept>

#include "base/file.h"
#include "reference/elements/float16.h"
#include "tests/temp_dir.h"

namespace aoe::tests {
namespace {

void add_random_initializers(onnx::GraphProto& graph) {
  std::set<std::string> known;
  for (const auto& node : graph.node()) known.insert(node.output().begin(), node.output().end());
  for (const auto& tensor : graph.initializer()) known.insert(tensor.name());
  std::mt19937 random(1);
  for (const auto& info : graph.value_info()) {
    if (known.contains(info.name())) continue;
    onnx::TensorProto& tensor = *graph.add_initializer();
    tensor.set_name(info.name());
    const int type = info.type().tensor_type().elem_type();
    constexpr int kKept[] = {onnx::TensorProto::FLOAT16, onnx::TensorProto::BFLOAT16,
                             onnx::TensorProto::INT8, onnx::TensorProto::UINT8};
    const bool is_byte = type == onnx::TensorProto::INT8 || type == onnx::TensorProto::UINT8;
    const bool is_kept = std::ranges::find(kKept, type) != std::end(kKept);
    tensor.set_data_type(is_kept ? type : static_cast<int>(onnx::TensorProto::FLOAT));
    std::int64_t count = 1;
    for (const auto& dim : info.type().tensor_type().shape().dim()) {
      tensor.add_dims(dim.dim_value());
      count *= dim.dim_value();
    }
    for (std::int64_t i = 0; i < count;
         ++i) {  // in (0.5, 1.5): good as a variance or a divisor, too
      const float value = 0.5f + static_cast<float>(random() % 1000) / 1000.0f;
      if (type == onnx::TensorProto::FLOAT16)
        tensor.add_int32_data(reference::Float16(value).bits);
      else if (type == onnx::TensorProto::BFLOAT16)
        tensor.add_int32_data(reference::BFloat16(value).bits);
      else if (is_byte)
        tensor.add_int32_data(static_cast<int>(200 * value) -
                              (type == onnx::TensorProto::INT8 ? 200 : 50));
      else
        tensor.add_float_data(value);
    }
  }
}

}  // namespace

onnx::ModelProto parsed_model(const std::string& graph_text, int opset) {
  const bool uses_local = graph_text.find("local") != std::string::npos;
  const std::string text = "<ir_version: 8, opset_import: [\"\" : " + std::to_string(opset) +
                           (uses_local ? ", \"local\" : 1" : "") + "]>\n" + graph_text;
  onnx::ModelProto model;
  onnx::OnnxParser parser(text.c_str());
  const auto status = parser.Parse(model);
  if (!status.IsOK()) throw std::logic_error(status.ErrorMessage());
  add_random_initializers(*model.mutable_graph());
  return model;
}

std::string model_bytes(const std::string& graph_text, int opset) {
  return parsed_model(graph_text, opset).SerializeAsString();
}

onnx::ModelProto external_model() {
  onnx::ModelProto model =
      parsed_model("g (float[2] x) => (float[2] y) <float[2] w = {1, 2}> { y = Add (x, w) }");
  onnx::TensorProto& tensor = *model.mutable_graph()->mutable_initializer(0);
  tensor.clear_float_data();
  tensor.set_data_location(onnx::TensorProto::EXTERNAL);
  return model;
}

graph::Graph import_bytes(const std::string& bytes, const graph::ImportOptions& options) {
  const TempDir directory;
  write_file_atomically(directory / "m.onnx", bytes);
  return graph::import_onnx(directory / "m.onnx", options);
}

graph::Graph import_text(const std::string& graph_text, int opset,
                         const graph::ImportOptions& options) {
  return import_bytes(model_bytes(graph_text, opset), options);
}

graph::GearedGraph import_gears(const std::filesystem::path& path,
                                const graph::GearRequest& request) {
  const auto import = [&](const graph::ImportOptions& sized) {
    return graph::import_onnx(path, sized);
  };
  return graph::join_gears(graph::import_each_gear(import, {}, request), request, {});
}

}  // namespace aoe::tests
