// See bomb_model.h.
#include "tests/robustness/bomb_model.h"

namespace aoe::tests {

onnx::NodeProto& BombGraph::node(const std::string& type, const Names& inputs,
                                 const Names& outputs) {
  onnx::NodeProto& node = *graph_.add_node();
  node.set_op_type(type);
  bytes_ += type.size() + 4;
  for (const Names* names : {&inputs, &outputs})
    for (const std::string& name : *names) bytes_ += name.size() + 2;
  for (const std::string& name : inputs) node.add_input(name);
  for (const std::string& name : outputs) node.add_output(name);
  return node;
}

void BombGraph::input(const std::string& name, const std::vector<std::int64_t>& shape, int type) {
  onnx::ValueInfoProto& info = *graph_.add_input();
  info.set_name(name);
  auto& tensor = *info.mutable_type()->mutable_tensor_type();
  tensor.set_elem_type(type);
  auto& dims = *tensor.mutable_shape();
  for (const std::int64_t dim : shape) dims.add_dim()->set_dim_value(dim);
  bytes_ += name.size() + 12 + 4 * shape.size();
}

void BombGraph::output(const std::string& name) {
  graph_.add_output()->set_name(name);
  bytes_ += name.size() + 4;
}

onnx::TensorProto& BombGraph::tensor(const std::string& name, int type,
                                     const std::vector<std::int64_t>& shape) {
  onnx::TensorProto& tensor = *graph_.add_initializer();
  tensor.set_name(name);
  tensor.set_data_type(type);
  for (const std::int64_t dim : shape) tensor.add_dims(dim);
  bytes_ += name.size() + 10;
  return tensor;
}

void BombGraph::ints(const std::string& name, const std::vector<std::int64_t>& values) {
  auto& made = tensor(name, onnx::TensorProto::INT64, {static_cast<std::int64_t>(values.size())});
  for (const std::int64_t value : values) made.add_int64_data(value);
  bytes_ += 2 * values.size();
}

void BombGraph::scalar(const std::string& name, std::int64_t value) {
  tensor(name, onnx::TensorProto::INT64, {}).add_int64_data(value);
}

void BombGraph::flag(const std::string& name, bool value) {
  tensor(name, onnx::TensorProto::BOOL, {}).add_int32_data(value ? 1 : 0);
}

void BombGraph::zeros(const std::string& name, const std::vector<std::int64_t>& shape) {
  tensor(name, onnx::TensorProto::FLOAT, shape).set_raw_data(zero_bytes(shape, sizeof(float)));
}

void BombGraph::texts(const std::string& name, const Names& values) {
  auto& made = tensor(name, onnx::TensorProto::STRING, {static_cast<std::int64_t>(values.size())});
  for (const std::string& value : values) {
    made.add_string_data(value);
    bytes_ += value.size() + 2;
  }
}

void BombGraph::byte_zeros(const std::string& name, const std::vector<std::int64_t>& shape) {
  tensor(name, onnx::TensorProto::UINT8, shape).set_raw_data(zero_bytes(shape, 1));
}

std::string BombGraph::zero_bytes(const std::vector<std::int64_t>& shape, std::size_t bytes) {
  for (const std::int64_t dim : shape) bytes *= static_cast<std::size_t>(dim);
  bytes_ += bytes;
  return std::string(bytes, '\0');
}

void set_int(onnx::NodeProto& node, const std::string& name, std::int64_t value) {
  onnx::AttributeProto& attribute = *node.add_attribute();
  attribute.set_name(name);
  attribute.set_type(onnx::AttributeProto::INT);
  attribute.set_i(value);
}

void set_ints(onnx::NodeProto& node, const std::string& name,
              const std::vector<std::int64_t>& values) {
  onnx::AttributeProto& attribute = *node.add_attribute();
  attribute.set_name(name);
  attribute.set_type(onnx::AttributeProto::INTS);
  for (const std::int64_t value : values) attribute.add_ints(value);
}

void set_text(onnx::NodeProto& node, const std::string& name, const std::string& value) {
  onnx::AttributeProto& attribute = *node.add_attribute();
  attribute.set_name(name);
  attribute.set_type(onnx::AttributeProto::STRING);
  attribute.set_s(value);
}

void set_texts(onnx::NodeProto& node, const std::string& name, const Names& values) {
  onnx::AttributeProto& attribute = *node.add_attribute();
  attribute.set_name(name);
  attribute.set_type(onnx::AttributeProto::STRINGS);
  for (const std::string& value : values) attribute.add_strings(value);
}

BombGraph body_of(onnx::NodeProto& node, const std::string& name) {
  onnx::AttributeProto& attribute = *node.add_attribute();
  attribute.set_name(name);
  attribute.set_type(onnx::AttributeProto::GRAPH);
  return BombGraph(*attribute.mutable_g());
}

onnx::ModelProto bomb_model(int opset) {
  onnx::ModelProto model;
  model.set_ir_version(8);
  auto& import = *model.add_opset_import();
  import.set_domain("");
  import.set_version(opset);
  BombGraph(*model.mutable_graph()).input("x", {2});
  return model;
}

}  // namespace aoe::tests
