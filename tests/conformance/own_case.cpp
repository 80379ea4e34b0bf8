// From JSON to a model and its tensors.
#include "tests/conformance/own_case.h"

#include <onnx/onnx_pb.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>

#include "base/error.h"
#include "base/file.h"
#include "base/json_text.h"
#include "reference/elements/onnx_data_type.h"
#include "reference/elements/typed.h"

namespace aoe::conformance {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

const fs::path kCases = AOE_CASES_DIR;

ConstantPtr tensor_of(const json& j) {
  const auto dtype = data_type_from_name(j.at("dtype").get<std::string>());
  if (!dtype) throw Error(ExitCode::kData, "unknown dtype " + j.at("dtype").get<std::string>());
  auto constant =
      std::make_shared<Constant>(TensorDesc{.dtype = *dtype, .shape = j.at("shape").get<Shape>()});
  const json& data = j.at("data");
  if (static_cast<std::int64_t>(data.size()) != element_count(constant->desc().shape))
    throw Error(ExitCode::kData, "data of another shape");
  reference::visit_type<reference::AllTypes>(*dtype, [&]<typename T>() {
    T* to = static_cast<T*>(constant->mutable_data());
    for (const json& value : data) {
      if (value.is_string())
        *to++ = reference::convert<T>(std::stod(value.get<std::string>()));  // inf, nan
      else if (value.is_number_integer())
        *to++ = reference::convert<T>(value.get<std::int64_t>());
      else if (value.is_boolean())
        *to++ = reference::convert<T>(value.get<bool>());
      else
        *to++ = reference::convert<T>(value.get<double>());
    }
  });
  return constant;
}

/// Of a type that no tensor of ours has: packed bytes, as the file has them.
void add_packed(onnx::GraphProto& graph, const std::string& name, const json& j) {
  onnx::TensorProto& tensor = *graph.add_initializer();
  tensor.set_name(name);
  tensor.set_data_type(j.at("onnx_type").get<int>());
  for (const json& dim : j.at("shape")) tensor.add_dims(dim.get<std::int64_t>());
  for (const json& byte : j.at("packed"))
    tensor.mutable_raw_data()->push_back(static_cast<char>(byte.get<int>()));
}

void fill_graph(onnx::GraphProto& graph, const json& j);

void add_attribute(onnx::NodeProto& node, const std::string& name, const json& value) {
  onnx::AttributeProto& attribute = *node.add_attribute();
  attribute.set_name(name);
  if (value.is_object() && value.contains("dtype")) {
    const ConstantPtr tensor = tensor_of(value);
    attribute.set_type(onnx::AttributeProto::TENSOR);
    attribute.mutable_t()->set_data_type(
        static_cast<int>(reference::onnx_number(tensor->desc().dtype)));
    for (const std::int64_t dim : tensor->desc().shape) attribute.mutable_t()->add_dims(dim);
    attribute.mutable_t()->set_raw_data(tensor->data(), tensor->size_bytes());
  } else if (value.is_object()) {
    attribute.set_type(onnx::AttributeProto::GRAPH);
    fill_graph(*attribute.mutable_g(), value.at("graph"));
  } else if (value.is_string()) {
    attribute.set_type(onnx::AttributeProto::STRING);
    attribute.set_s(value.get<std::string>());
  } else if (value.is_number_integer()) {
    attribute.set_type(onnx::AttributeProto::INT);
    attribute.set_i(value.get<std::int64_t>());
  } else if (value.is_number_float()) {
    attribute.set_type(onnx::AttributeProto::FLOAT);
    attribute.set_f(value.get<float>());
  } else if (value.at(0).is_string()) {
    attribute.set_type(onnx::AttributeProto::STRINGS);
    for (const json& each : value) attribute.add_strings(each.get<std::string>());
  } else if (value.at(0).is_number_integer()) {
    attribute.set_type(onnx::AttributeProto::INTS);
    for (const json& each : value) attribute.add_ints(each.get<std::int64_t>());
  } else {
    attribute.set_type(onnx::AttributeProto::FLOATS);
    for (const json& each : value) attribute.add_floats(each.get<float>());
  }
}

void declare(onnx::ValueInfoProto& info, const std::string& name, const TensorDesc& desc) {
  info.set_name(name);
  auto& type = *info.mutable_type()->mutable_tensor_type();
  type.set_elem_type(static_cast<int>(reference::onnx_number(desc.dtype)));
  auto& shape = *type.mutable_shape();
  for (const std::int64_t dim : desc.shape) shape.add_dim()->set_dim_value(dim);
}

void add_initializer(onnx::GraphProto& graph, const std::string& name, const Constant& value) {
  onnx::TensorProto& tensor = *graph.add_initializer();
  tensor.set_name(name);
  tensor.set_data_type(static_cast<int>(reference::onnx_number(value.desc().dtype)));
  for (const std::int64_t dim : value.desc().shape) tensor.add_dims(dim);
  tensor.set_raw_data(value.data(), value.size_bytes());
}

onnx::ModelProto empty_model(const json& j) {
  onnx::ModelProto model;
  model.set_ir_version(8);
  for (const auto& [domain, version] : {std::pair<std::string, int>{"", j.at("opset").get<int>()},
                                        {"com.microsoft", 1},
                                        {"ai.onnx.ml", 5},
                                        {"ai.onnx.preview", 1}}) {
    auto& import = *model.add_opset_import();
    import.set_domain(domain);
    import.set_version(version);
  }
  model.mutable_graph()->set_name(j.at("name").get<std::string>());
  return model;
}

void add_node(onnx::GraphProto& graph, const json& j) {
  onnx::NodeProto& node = *graph.add_node();
  node.set_op_type(j.at("op_type").get<std::string>());
  node.set_domain(j.at("domain").get<std::string>());
  for (const json& input : j.at("inputs")) node.add_input(input.get<std::string>());
  for (const json& output : j.at("outputs")) node.add_output(output.get<std::string>());
  for (const auto& [name, value] : j.at("attributes").items()) add_attribute(node, name, value);
}

/// The body of a node. Dimensions that are null are not known; an input without a shape is a sequence.
void fill_graph(onnx::GraphProto& graph, const json& j) {
  graph.set_name("body");
  for (const json& input : j.at("inputs")) {
    onnx::ValueInfoProto& info = *graph.add_input();
    const TensorDesc desc{.dtype = *data_type_from_name(input.at("dtype").get<std::string>())};
    declare(info, input.at("name").get<std::string>(), desc);
    if (input.at("shape").is_null()) {
      onnx::TypeProto sequence;
      *sequence.mutable_sequence_type()->mutable_elem_type() = info.type();
      *info.mutable_type() = sequence;
      continue;
    }
    for (const json& dim : input.at("shape")) {
      auto& added = *info.mutable_type()->mutable_tensor_type()->mutable_shape()->add_dim();
      if (!dim.is_null()) added.set_dim_value(dim.get<std::int64_t>());
    }
  }
  for (const json& output : j.at("outputs"))
    graph.add_output()->set_name(output.get<std::string>());
  for (const auto& [name, value] : j.at("constants").items())
    add_initializer(graph, name, *tensor_of(value));
  for (const json& node : j.at("nodes")) add_node(graph, node);
}

}  // namespace

std::vector<std::string> own_case_names() {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(kCases))
    names.push_back(entry.path().stem().string());
  std::sort(names.begin(), names.end());
  return names;
}

NodeCase load_own_case(const std::string& name, const fs::path& directory) {
  const json j = parse_json(read_file(kCases / (name + ".json"), ExitCode::kData));
  NodeCase node_case{
      .name = name, .model = directory / (name + ".onnx"), .inputs = {}, .outputs = {}};
  onnx::ModelProto model = empty_model(j);
  onnx::GraphProto& graph = *model.mutable_graph();
  const auto constants = j.at("constants").get<std::set<std::string>>();
  for (const auto& [key, value] : j.at("inputs").items()) {
    if (value.contains("packed")) {
      add_packed(graph, key, value);
      continue;
    }
    const ConstantPtr tensor = tensor_of(value);
    if (constants.contains(key)) {
      add_initializer(graph, key, *tensor);
      continue;
    }
    declare(*graph.add_input(), key, tensor->desc());
    node_case.inputs.push_back(tensor);
  }
  for (const auto& [key, value] : j.at("outputs").items()) {
    const ConstantPtr tensor = tensor_of(value);
    declare(*graph.add_output(), key, tensor->desc());
    node_case.outputs.push_back(tensor);
  }
  for (const json& node : j.at("nodes")) add_node(graph, node);
  std::ofstream(node_case.model, std::ios::binary) << model.SerializeAsString();
  return node_case;
}

}  // namespace aoe::conformance
