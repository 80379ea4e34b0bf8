// Writing ModelProtos.
#include "tools/make_model/onnx_writer.h"

#include <onnx/onnx_pb.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <unordered_map>

#include "base/error.h"
#include "reference/elements/onnx_data_type.h"

namespace aoe::make_model {
namespace {

/// SplitMix64: small, fast and the same everywhere, which <random>'s distributions are not.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}
  /// In [0, 1), 24 bits: as fine as float32 is.
  float next() {
    state_ += 0x9E3779B97F4A7C15u;
    std::uint64_t z = state_;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return static_cast<float>((z ^ (z >> 31)) >> 40) * 0x1p-24f;
  }

 private:
  std::uint64_t state_;
};

constexpr std::size_t kMostBytes = (std::size_t{1} << 31) - 1;  // of one protobuf message

[[noreturn]] void fail_too_large() {
  throw Error(ExitCode::kUsage, "the model would be larger than the 2 GB of one ONNX file", "",
              "ask for fewer layers or a smaller image");
}

void describe(onnx::ValueInfoProto& info, const std::string& name, const Shape& shape,
              DataType dtype) {
  info.set_name(name);
  auto* tensor = info.mutable_type()->mutable_tensor_type();
  tensor->set_elem_type(static_cast<int>(reference::onnx_number(dtype)));
  tensor->mutable_shape();
  for (const std::int64_t size : shape) {
    auto* dim = tensor->mutable_shape()->add_dim();
    if (size >= 0) dim->set_dim_value(size);
  }
}

template <typename T>
void fill(onnx::TensorProto& tensor, const std::string& name, const Shape& shape, DataType dtype,
          const std::vector<T>& values) {
  tensor.set_name(name);
  tensor.set_data_type(static_cast<int>(reference::onnx_number(dtype)));
  for (const std::int64_t dim : shape) tensor.add_dims(dim);
  tensor.set_raw_data(values.data(), values.size() * sizeof(T));
}

struct AttributeSetter {
  onnx::AttributeProto& to;
  void operator()(int v) const { to.set_type(onnx::AttributeProto::INT), to.set_i(v); }
  void operator()(float v) const { to.set_type(onnx::AttributeProto::FLOAT), to.set_f(v); }
  void operator()(const std::string& v) const {
    to.set_type(onnx::AttributeProto::STRING), to.set_s(v);
  }
  void operator()(const std::vector<std::int64_t>& v) const {
    to.set_type(onnx::AttributeProto::INTS);
    for (const std::int64_t i : v) to.add_ints(i);
  }
  void operator()(const std::vector<std::string>& v) const {
    to.set_type(onnx::AttributeProto::STRINGS);
    for (const std::string& s : v) to.add_strings(s);
  }
};

}  // namespace

struct OnnxWriter::State {
  onnx::ModelProto model;
  Random random;
  std::size_t weight_bytes = 0;
  bool is_dynamic = false;
  std::map<std::string, Shape> open_inputs = {};
  /// By name: where nodes write and read the value.
  std::unordered_map<std::string, std::vector<std::string*>> places = {};
};

namespace {

/// As exporters name them; equal names are equal sizes.
void open_input_dims(onnx::ValueInfoProto& info) {
  auto& shape = *info.mutable_type()->mutable_tensor_type()->mutable_shape();
  const auto open = [&](int axis, const char* name) {
    shape.mutable_dim(axis)->set_dim_param(name);
  };
  open(0, "batch");
  if (shape.dim_size() == 2) open(1, "sequence");
  if (shape.dim_size() == 4) open(2, "height"), open(3, "width");
}

}  // namespace

double he_deviation(std::int64_t fan_in) {
  return std::sqrt(2.0 / static_cast<double>(fan_in));
}

OnnxWriter::OnnxWriter(const std::string& graph_name, WriterOptions options)
    : state_(std::make_unique<State>(State{{}, Random(options.seed), 0, options.is_dynamic})) {
  constexpr std::int64_t kIrVersion =
      8;  // the one that opsets 15 to 18 came with; older opsets are legal in it
  state_->model.set_ir_version(kIrVersion);
  state_->model.set_producer_name("make_model");
  state_->model.add_opset_import()->set_version(options.opset);
  state_->model.mutable_graph()->set_name(graph_name);
}

OnnxWriter::~OnnxWriter() = default;

std::string OnnxWriter::input(const std::string& name, const Shape& shape, DataType dtype,
                              const std::vector<std::string>& dim_names) {
  onnx::ValueInfoProto& info = *state_->model.mutable_graph()->add_input();
  describe(info, name, shape, dtype);
  if (!state_->is_dynamic) return name;
  state_->open_inputs[name] = shape;
  if (dim_names.empty()) open_input_dims(info);
  for (std::size_t axis = 0; axis < dim_names.size(); ++axis)
    if (!dim_names[axis].empty())
      info.mutable_type()
          ->mutable_tensor_type()
          ->mutable_shape()
          ->mutable_dim(static_cast<int>(axis))
          ->set_dim_param(dim_names[axis]);
  return name;
}

const std::map<std::string, Shape>& OnnxWriter::open_inputs() const {
  return state_->open_inputs;
}

std::string OnnxWriter::weight(const std::string& name, const Shape& shape, double deviation) {
  const double half_width =
      deviation * std::sqrt(3.0);  // of the uniform distribution with that deviation
  return uniform(name, shape, -half_width, half_width);
}

std::string OnnxWriter::uniform(const std::string& name, const Shape& shape, double low,
                                double high) {
  return floats(name, shape, draw(static_cast<std::size_t>(element_count(shape)), low, high));
}

std::vector<float> OnnxWriter::draw(std::size_t count, double low, double high) {
  state_->weight_bytes += count * sizeof(float);
  if (state_->weight_bytes > kMostBytes) fail_too_large();  // before memory runs out
  std::vector<float> values(count);
  const auto start = static_cast<float>(low), width = static_cast<float>(high - low);
  for (float& value : values) value = start + width * state_->random.next();
  return values;
}

std::string OnnxWriter::floats(const std::string& name, const Shape& shape,
                               const std::vector<float>& values) {
  fill(*state_->model.mutable_graph()->add_initializer(), name, shape, DataType::kFloat, values);
  return name;
}

std::string OnnxWriter::bytes(const std::string& name, const Shape& shape,
                              const std::vector<std::uint8_t>& values) {
  fill(*state_->model.mutable_graph()->add_initializer(), name, shape, DataType::kUint8, values);
  return name;
}

std::string OnnxWriter::ints(const std::string& name, const Shape& shape,
                             const std::vector<std::int64_t>& values) {
  fill(*state_->model.mutable_graph()->add_initializer(), name, shape, DataType::kInt64, values);
  return name;
}

namespace {

/// Of the node that was added last, a Constant.
onnx::TensorProto& value_of_last(onnx::GraphProto& graph) {
  onnx::AttributeProto& value = *graph.mutable_node(graph.node_size() - 1)->add_attribute();
  value.set_name("value");
  value.set_type(onnx::AttributeProto::TENSOR);
  return *value.mutable_t();
}

}  // namespace

std::string OnnxWriter::constant(const std::string& node_name,
                                 const std::vector<std::int64_t>& values, bool is_scalar) {
  const std::string output = node(node_name, "Constant", {});
  const Shape shape = is_scalar ? Shape{} : Shape{static_cast<std::int64_t>(values.size())};
  fill(value_of_last(*state_->model.mutable_graph()), "", shape, DataType::kInt64, values);
  return output;
}

std::string OnnxWriter::constant(const std::string& node_name, float value) {
  const std::string output = node(node_name, "Constant", {});
  fill(value_of_last(*state_->model.mutable_graph()), "", {}, DataType::kFloat,
       std::vector<float>{value});
  return output;
}

std::string OnnxWriter::node(const std::string& node_name, const std::string& type,
                             const std::vector<std::string>& inputs, const Attributes& attributes) {
  return node_with_outputs(node_name, type, inputs, 1, attributes)[0];
}

std::vector<std::string> OnnxWriter::node_with_outputs(const std::string& node_name,
                                                       const std::string& type,
                                                       const std::vector<std::string>& inputs,
                                                       std::size_t outputs,
                                                       const Attributes& attributes) {
  std::vector<std::size_t> all(outputs);
  std::iota(all.begin(), all.end(), std::size_t{0});
  return node_with_outputs(node_name, type, inputs, all, attributes);
}

std::vector<std::string> OnnxWriter::node_with_outputs(const std::string& node_name,
                                                       const std::string& type,
                                                       const std::vector<std::string>& inputs,
                                                       const std::vector<std::size_t>& wanted,
                                                       const Attributes& attributes) {
  onnx::NodeProto& node = *state_->model.mutable_graph()->add_node();
  node.set_name(node_name);
  set_type(node, type);
  for (const std::string& name : inputs) node.add_input(name);
  for (const std::size_t i : wanted) {
    while (static_cast<std::size_t>(node.output_size()) < i) node.add_output("");
    node.add_output(node_name + "_output_" + std::to_string(i));
  }
  for (const auto& [name, value] : attributes) {
    onnx::AttributeProto& attribute = *node.add_attribute();
    attribute.set_name(name);
    std::visit(AttributeSetter{attribute}, value);
  }
  for (std::string& read : *node.mutable_input()) state_->places[read].push_back(&read);
  std::vector<std::string> names;
  for (std::string& made : *node.mutable_output()) {
    if (made.empty()) continue;
    state_->places[made].push_back(&made);
    names.push_back(made);
  }
  return names;
}

void OnnxWriter::set_type(onnx::NodeProto& node, const std::string& type) {
  const std::size_t dot = type.rfind('.');
  node.set_op_type(dot == std::string::npos ? type : type.substr(dot + 1));
  if (dot == std::string::npos) return;
  node.set_domain(type.substr(0, dot));
  const auto is_same = [&](const auto& import) { return import.domain() == node.domain(); };
  if (std::ranges::any_of(state_->model.opset_import(), is_same)) return;
  auto& import = *state_->model.add_opset_import();
  import.set_domain(node.domain());
  import.set_version(1);
}

void OnnxWriter::output(const std::string& value, const std::string& name, const Shape& shape) {
  onnx::GraphProto& graph = *state_->model.mutable_graph();
  std::vector<std::string*> places = std::move(state_->places[value]);
  state_->places.erase(value);
  for (std::string* place : places) *place = name;
  state_->places[name] = std::move(places);
  onnx::ValueInfoProto& info = *graph.add_output();
  describe(info, name, shape, DataType::kFloat);
  if (state_->is_dynamic)
    for (auto& dim : *info.mutable_type()->mutable_tensor_type()->mutable_shape()->mutable_dim())
      dim.clear_value();
}

std::string OnnxWriter::serialize() const {
  if (state_->model.ByteSizeLong() > kMostBytes) fail_too_large();
  return state_->model.SerializeAsString();
}

}  // namespace aoe::make_model
