// Lines become models: each word is a part of a protobuf message.
#include "benchmarks/operator_case.h"

#include <onnx/onnx_pb.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>
#include <random>
#include <regex>

#include "base/error.h"
#include "base/json_text.h"
#include "base/words.h"
#include "reference/elements/onnx_data_type.h"
#include "reference/op.h"

namespace aoe::benchmarks {
namespace {

constexpr int kOpset = 21;
constexpr int kIrVersion = 10;

struct ShortName {
  std::string_view text;
  DataType type;
};
constexpr ShortName kTypes[] = {
    {"f32", DataType::kFloat},  {"f16", DataType::kFloat16}, {"bf16", DataType::kBFloat16},
    {"f64", DataType::kDouble}, {"i8", DataType::kInt8},     {"i16", DataType::kInt16},
    {"i32", DataType::kInt32},  {"i64", DataType::kInt64},   {"u8", DataType::kUint8},
    {"u16", DataType::kUint16}, {"u32", DataType::kUint32},  {"u64", DataType::kUint64},
    {"bool", DataType::kBool},
};

[[noreturn]] void refuse(const std::string& word) {
  throw Error(ExitCode::kData, "cannot read '" + word + "'", "operator case");
}

DataType type_of(const std::string& text) {
  for (const ShortName& each : kTypes)
    if (each.text == text) return each.type;
  refuse(text);
}

// ---- values ----

struct Range {
  double low, high;
};

ConstantPtr random_values(const TensorDesc& desc, std::optional<Range> range,
                          std::mt19937& engine) {
  const bool is_signed = is_floating(desc.dtype) || name(desc.dtype).starts_with("int");
  const Range usual = is_floating(desc.dtype) ? Range{-2, 2} : Range{is_signed ? -99.0 : 0.0, 99};
  const Range in = range.value_or(usual);
  std::uniform_real_distribution<double> uniform(
      in.low, is_floating(desc.dtype) || in.low == in.high ? in.high : in.high + 1);
  std::vector<double> values(static_cast<std::size_t>(element_count(desc.shape)));
  for (double& value : values) {
    value = in.low == in.high ? in.low : uniform(engine);
    if (desc.dtype == DataType::kBool) value = value > 50;
    if (!is_floating(desc.dtype)) value = std::floor(value);
  }
  auto result = std::make_shared<Constant>(desc);
  reference::OpCall cast{.type = "Cast"};
  cast.attrs.set("to", reference::onnx_number(desc.dtype));
  const Tensor from{{.dtype = DataType::kDouble, .shape = desc.shape}, values.data()};
  reference::run(cast, std::vector{from}, std::vector{result->view()});
  return result;
}

ConstantPtr listed_values(const std::string& text) {
  const auto list = parse_json(text).get<std::vector<std::int64_t>>();
  return std::make_shared<Constant>(
      TensorDesc{.dtype = DataType::kInt64, .shape = {std::ssize(list)}}, list.data());
}

// ---- the model ----

class CaseModel {
 public:
  CaseModel(DataType type, int opset) : type_(type) {
    model_.set_ir_version(kIrVersion);
    model_.add_opset_import()->set_version(opset);
    model_.mutable_graph()->set_name("operator_case");
  }

  void add_node(const std::vector<std::string>& words) {
    onnx::NodeProto node;
    const std::string before = result_;
    set_type(node, split_words(words.at(0), '@').at(0));
    node.set_name(node.op_type() + std::to_string(model_.graph().node_size() + 1));
    if (!before.empty()) node.add_input(before);
    int outputs = 1;
    for (std::size_t i = 1; i < words.size(); ++i) {
      const auto equals = words[i].find('=');
      if (equals == std::string::npos) refuse(words[i]);
      const std::string key = words[i].substr(0, equals), value = words[i].substr(equals + 1);
      if (key == "in")
        node.add_input(add_input(value));
      else if (key == "outputs")
        outputs = std::stoi(value);
      else
        set_attribute(node, key, value);
    }
    for (int i = 0; i < outputs; ++i) node.add_output(node.name() + "_" + std::to_string(i));
    result_ = node.output(0);
    *model_.mutable_graph()->add_node() = std::move(node);  // behind those that choose its rows
  }

  OperatorCase finish() {
    onnx::GraphProto& graph = *model_.mutable_graph();
    const onnx::NodeProto& last = graph.node(graph.node_size() - 1);
    for (const std::string& output : last.output()) graph.add_output()->set_name(output);
    return {.model = model_.SerializeAsString(), .inputs = inputs_, .open_inputs = open_inputs_};
  }

 private:
  void set_type(onnx::NodeProto& node, const std::string& type) {
    const std::size_t dot = type.rfind('.');
    node.set_op_type(dot == std::string::npos ? type : type.substr(dot + 1));
    if (dot == std::string::npos) return;
    node.set_domain(type.substr(0, dot));
    onnx::OperatorSetIdProto& import = *model_.add_opset_import();
    import.set_domain(node.domain());
    import.set_version(1);
  }

  std::string add_input(const std::string& text) {
    if (text == "-") return "";
    const std::string name = "x" + std::to_string(++count_);
    if (text[0] == '[') {
      add_initializer(name, listed_values(text));
      return name;
    }
    const std::vector<std::string> words = split_words(text, ':');
    TensorDesc desc{.dtype = type_};
    std::vector<std::size_t> open_axes;
    if (words.at(0) != "scalar")
      for (const std::string& dim : split_words(words[0], 'x')) {
        if (dim.starts_with('~')) open_axes.push_back(desc.shape.size());
        desc.shape.push_back(std::stoll(dim.substr(dim.starts_with('~') ? 1 : 0)));
      }
    bool is_constant = false, has_mask = false, is_open = false;
    std::optional<Range> range;
    for (std::size_t i = 1; i < words.size(); ++i) {
      const std::size_t dots = words[i].find("..");
      if (words[i] == "const")
        is_constant = true;
      else if (words[i] == "rows")
        has_mask = true;
      else if (words[i] == "open")
        is_open = true;
      else if (const auto dtype = data_type_from_name(words[i]))
        desc.dtype = *dtype;
      else if (dots != std::string::npos)
        range = {std::stod(words[i]), std::stod(words[i].substr(dots + 2))};
      else
        refuse(text);
    }
    const ConstantPtr values = random_values(desc, range, engine_);
    if (is_constant) {
      add_initializer(name, values);
      return name;
    }
    add_model_input(name, values, open_axes);
    if (is_open) return add_computed_shape(name, desc.shape);
    return has_mask ? add_mask(name, desc.shape.at(0)) : name;
  }

  void add_model_input(const std::string& name, const ConstantPtr& values,
                       const std::vector<std::size_t>& open_axes = {}) {
    const TensorDesc& desc = values->desc();
    onnx::ValueInfoProto& info = *model_.mutable_graph()->add_input();
    info.set_name(name);
    auto& tensor = *info.mutable_type()->mutable_tensor_type();
    tensor.set_elem_type(static_cast<int>(reference::onnx_number(desc.dtype)));
    tensor.mutable_shape();
    for (const std::int64_t dim : desc.shape) tensor.mutable_shape()->add_dim()->set_dim_value(dim);
    for (const std::size_t axis : open_axes) {
      tensor.mutable_shape()->mutable_dim(static_cast<int>(axis))->clear_dim_value();
      open_inputs_.try_emplace(name, desc.shape).first->second[axis] = kUnknownDim;
    }
    inputs_.push_back({name, values});
  }

  /// All rows of the value, chosen by a mask of its own.
  std::string add_mask(const std::string& name, std::int64_t rows) {
    const std::string mask = name + "_mask", chosen = name + "_rows";
    add_model_input(
        mask, random_values({.dtype = DataType::kBool, .shape = {rows}}, Range{99, 99}, engine_));
    set_attribute(add_node("Compress", {name, mask}, chosen), "axis", "0");
    return chosen;
  }

  /// The value in a shape that another input gives.
  std::string add_computed_shape(const std::string& name, const Shape& shape) {
    const std::string dims = name + "_dims", shaped = name + "_open";
    add_model_input(dims, std::make_shared<Constant>(
                              TensorDesc{.dtype = DataType::kInt64, .shape = {std::ssize(shape)}},
                              shape.data()));
    return add_node("Reshape", {name, dims}, shaped).output(0);
  }

  onnx::NodeProto& add_node(const std::string& type, const std::vector<std::string>& inputs,
                            const std::string& output) {
    onnx::NodeProto& node = *model_.mutable_graph()->add_node();
    node.set_op_type(type);
    node.set_name(output);
    for (const std::string& input : inputs) node.add_input(input);
    node.add_output(output);
    return node;
  }

  void add_initializer(const std::string& name, const ConstantPtr& values) {
    onnx::TensorProto& tensor = *model_.mutable_graph()->add_initializer();
    tensor.set_name(name);
    tensor.set_data_type(static_cast<int>(reference::onnx_number(values->desc().dtype)));
    for (const std::int64_t dim : values->desc().shape) tensor.add_dims(dim);
    tensor.set_raw_data(values->data(), values->size_bytes());
  }

  void set_attribute(onnx::NodeProto& node, const std::string& key, const std::string& text) {
    onnx::AttributeProto& attribute = *node.add_attribute();
    attribute.set_name(key);
    const auto value = json_or_discarded(text);
    using Proto = onnx::AttributeProto;
    if (value.is_number_integer()) {
      attribute.set_type(Proto::INT), attribute.set_i(value);
    } else if (value.is_number_float()) {
      attribute.set_type(Proto::FLOAT), attribute.set_f(value);
    } else if (value.is_string()) {
      attribute.set_type(Proto::STRING), attribute.set_s(value);
    } else if (value.is_array() && !value.empty() && value[0].is_string()) {
      attribute.set_type(Proto::STRINGS);
      for (const std::string word : value) attribute.add_strings(word);
    } else if (value.is_array()) {
      attribute.set_type(Proto::INTS);
      for (const std::int64_t number : value) attribute.add_ints(number);
    } else {
      refuse(key + "=" + text);
    }
  }

  DataType type_;
  onnx::ModelProto model_;
  std::vector<NamedTensor> inputs_;
  std::map<std::string, Shape> open_inputs_;
  std::string result_;
  int count_ = 0;
  std::mt19937 engine_{1};
};

}  // namespace

std::vector<std::string> read_operator_cases(const std::filesystem::path& file,
                                             const std::string& only) {
  std::ifstream stream(file);
  if (!stream) throw Error(ExitCode::kData, "cannot be read", file.string());
  const std::regex pattern(only);
  std::vector<std::string> cases;
  for (std::string line; std::getline(stream, line);) {
    const std::vector<std::string> words = split_words(line.substr(0, line.find('#')), ' ');
    if (words.empty()) continue;
    if (words.size() < 2) refuse(line);
    for (const std::string& each : split_words(words[1], '|')) {
      for (const std::string& type : split_words(words[0], ',')) {
        std::string text = type + " " + each;
        for (std::size_t i = 2; i < words.size(); ++i) text += " " + words[i];
        if (std::regex_search(text, pattern)) cases.push_back(text);
      }
    }
  }
  return cases;
}

OperatorCase make_operator_case(const std::string& line) {
  const std::vector<std::string> words = split_words(line, ' ');
  const std::vector<std::string> first = split_words(words.at(1), '@');
  CaseModel model(type_of(words[0]), first.size() > 1 ? std::stoi(first[1]) : kOpset);
  for (auto begin = words.begin() + 1; begin != words.end();) {
    const auto end = std::find(begin, words.end(), "->");
    model.add_node({begin, end});
    begin = end == words.end() ? end : end + 1;
  }
  return model.finish();
}

}  // namespace aoe::benchmarks
