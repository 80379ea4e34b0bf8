// One graph of one node from each description.
#include "options/single_op.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <string_view>

#include "base/error.h"
#include "base/json_file.h"
#include "base/json_text.h"
#include "base/words.h"
#include "graph/passes.h"
#include "options/flags.h"
#include "reference/op_rules.h"

namespace aoe::options {
namespace {

using nlohmann::json;
using Ints = std::vector<std::int64_t>;

/// With the names that C++ has for two of them, as such files often say.
std::optional<DataType> type_from_name(const std::string& text) {
  if (text == "float") return DataType::kFloat;
  if (text == "double") return DataType::kDouble;
  return data_type_from_name(text);
}

struct Rename {
  std::string_view ir, onnx;
};
constexpr Rename kRenames[] = {{"groups", "group"},
                               {"keep_dims", "keepdims"},
                               {"transpose_a", "transA"},
                               {"transpose_b", "transB"},
                               {"ksize", "kernel_shape"}};

class Reader {
 public:
  Reader(const json& op, std::size_t index, const std::string& where)
      : op_(op), index_(index), where_(where + ", op " + std::to_string(index)) {}

  SingleOp read() {
    if (!op_.is_object()) fail("is no object");
    check_keys(op_, {"op", "name", "input_desc", "output_desc", "attr", "compile_flag"});
    find_operator();
    graph::Graph& graph = result_.graph;
    graph.name = type_;
    graph::Node node{.name = type_, .op = {.type = def_->type, .version = def_->versions.back()}};
    node.origins = {node.name};
    node.op.attrs = attributes();
    for (const json& desc : list("input_desc")) node.inputs.push_back(input(desc));
    const std::vector<json> outputs = list("output_desc");
    for (std::size_t i = 0; i < outputs.size(); ++i)
      node.outputs.push_back(graph.add_value("y" + std::to_string(i), description(outputs[i])));
    if (outputs.empty()) fail("output_desc is empty");
    graph.outputs = node.outputs;
    const std::vector<TensorDesc> declared = descs(node.outputs);
    graph.add_node(std::move(node));
    infer();
    check_outputs(declared);
    result_.name = op_.value("name", "");
    if (result_.name.empty()) result_.name = default_name();
    if (result_.name.find('/') != std::string::npos)
      fail("name '" + result_.name + "' holds a '/'");
    return std::move(result_);
  }

 private:
  [[noreturn]] void fail(const std::string& what, const std::string& advice = {}) const {
    throw Error(ExitCode::kUsage, what, where_, advice);
  }

  void check_keys(const json& object, std::initializer_list<std::string_view> known) const {
    for (const auto& [key, value] : object.items())
      if (std::ranges::find(known, key) == known.end())
        fail("unknown key \"" + key + "\"", "known are " + joined(known, ", "));
  }

  void find_operator() {
    if (!op_.contains("op") || !op_["op"].is_string()) fail("\"op\" is missing");
    type_ = op_["op"].get<std::string>();
    def_ = reference::ops().find(type_);
    if (def_ == nullptr) {
      def_ = reference::ops().find_onnx("", type_);
      is_onnx_ = true;
    } else {
      is_onnx_ = def_->onnx_type == type_;
    }
    if (def_ == nullptr)
      fail("there is no operator '" + type_ + "'", "give an IR type or an ONNX type");
  }

  std::vector<json> list(const char* key) const {
    if (!op_.contains(key)) return {};
    if (!op_[key].is_array()) fail(std::string("\"") + key + "\" is no list");
    return op_[key].get<std::vector<json>>();
  }

  Ints shape(const json& desc, const char* key) const {
    Ints dims;
    if (!desc.contains(key) || !desc[key].is_array())
      fail(std::string("a tensor has no \"") + key + "\"");
    for (const json& dim : desc[key]) {
      if (!dim.is_number_integer() || dim.get<std::int64_t>() < 0)
        fail("a size of \"" + std::string(key) + "\" is " + json_text(dim), "sizes must be known");
      dims.push_back(dim.get<std::int64_t>());
    }
    return dims;
  }

  TensorDesc description(const json& desc) const {
    if (!desc.is_object()) fail("a tensor is no object");
    check_keys(desc, {"name", "format", "shape", "type", "origin_format", "origin_shape",
                      "is_const", "const_value", "dynamic_input"});
    const auto type = type_from_name(text(desc, "type"));
    if (!type) fail("'" + text(desc, "type") + "' is no type");
    // Formats of the kernel are the compiler's choice; the shape that counts is the original one.
    const bool has_origin = desc.contains("origin_shape");
    const std::string format =
        text(desc, desc.contains("origin_format") ? "origin_format" : "format");
    if (format != "ND" && format != "NCHW")
      fail("format '" + format + "' is not supported",
           "use ND or NCHW; kernels choose others themselves");
    return {.dtype = *type, .shape = shape(desc, has_origin ? "origin_shape" : "shape")};
  }

  std::string text(const json& object, const char* key) const {
    if (!object.contains(key) || !object[key].is_string())
      fail(std::string("\"") + key + "\" is missing");
    return object[key].get<std::string>();
  }

  graph::ValueId input(const json& desc) {
    if (desc.is_object() && desc.value("type", "") == "UNDEFINED") return graph::kNone;  // absent
    graph::Graph& graph = result_.graph;
    const std::string name = "x" + std::to_string(inputs_++);
    const TensorDesc tensor = description(desc);
    if (!desc.value("is_const", false)) {
      graph.inputs.push_back(graph.add_value(name, tensor));
      return graph.inputs.back();
    }
    return graph.add_value(name, tensor, constant(tensor, desc));
  }

  ConstantPtr constant(const TensorDesc& desc, const json& tensor) const {
    const json values = tensor.value("const_value", json());
    if (!values.is_array() ||
        static_cast<std::int64_t>(values.size()) != element_count(desc.shape) ||
        !std::ranges::all_of(values, [](const json& v) { return v.is_number(); }))
      fail("const_value is no list of " + std::to_string(element_count(desc.shape)) + " numbers");
    if (desc.dtype == DataType::kFloat)
      return std::make_shared<Constant>(desc, values.get<std::vector<float>>().data());
    if (desc.dtype == DataType::kInt64)
      return std::make_shared<Constant>(desc, values.get<Ints>().data());
    if (desc.dtype == DataType::kInt32)
      return std::make_shared<Constant>(desc, values.get<std::vector<std::int32_t>>().data());
    fail("constants of type " + std::string(name(desc.dtype)) + " are not supported",
         "use float32, int32 or int64");
  }

  reference::Attrs attributes() const {
    reference::Attrs attrs;
    for (const json& attr : list("attr")) {
      if (!attr.is_object()) fail("an attribute is no object");
      check_keys(attr, {"name", "type", "value"});
      set(attrs, text(attr, "name"), text(attr, "type"), attr.value("value", json()));
    }
    return attrs;
  }

  void set(reference::Attrs& attrs, std::string name, const std::string& type,
           const json& value) const {
    if (says_default(name, value)) return;
    for (const Rename& rename : kRenames)
      if (!is_onnx_ && name == rename.ir) name = rename.onnx;
    if (def_->type == "SoftmaxV2" && name == "axes" && value.is_array() && value.size() == 1)
      return attrs.set("axis", value[0].get<std::int64_t>());
    // It would be silently without effect.
    if (!reference::has_attribute(def_->type, name))
      fail("operator '" + type_ + "' has no attribute '" + name + "'");
    try {
      attrs.set(name, attribute(name, type, value));
    } catch (const json::exception&) {
      fail("attribute '" + name + "' is not of type " + type);
    }
  }

  /// Attributes of the IR that only say what is the case anyway.
  bool says_default(const std::string& name, const json& value) const {
    if (name == "data_format") {
      if (value != "NCHW" && value != "ND")
        fail("data_format " + json_text(value) + " is not supported", "use NCHW");
      return true;
    }
    if (name == "offset_x" || name == "transpose_x1" || name == "transpose_x2" ||
        name == "adj_x1" || name == "adj_x2") {
      if (value != 0 && value != false)
        fail("attribute '" + name + "' of " + json_text(value) + " is not supported",
             "describe the tensors as they lie");
      return true;
    }
    return false;
  }

  reference::Attr attribute(const std::string& name, const std::string& type,
                            const json& value) const {
    if (type == "bool") return std::int64_t{value.get<bool>() ? 1 : 0};
    if (type == "int") return value.get<std::int64_t>();
    if (type == "float") return value.get<float>();
    if (type == "string") return value.get<std::string>();
    if (type == "list_float") return value.get<std::vector<float>>();
    if (type == "list_string") return value.get<std::vector<std::string>>();
    if (type == "list_int") return ints(name, value.get<Ints>());
    fail("attribute '" + name + "' has the unknown type '" + type + "'",
         "use bool, int, float, string, list_int, list_float or list_string");
  }

  /// The IR counts batch and channels in, and has pads side by side.
  Ints ints(const std::string& name, Ints values) const {
    if (is_onnx_ || values.size() != 4) return values;
    if (name == "pads") return {values[0], values[2], values[1], values[3]};
    if (name != "strides" && name != "dilations" && name != "kernel_shape") return values;
    if (values[0] != 1 || values[1] != 1) fail("'" + name + "' of batch and channels must be 1");
    return {values[2], values[3]};
  }

  std::vector<TensorDesc> descs(const std::vector<graph::ValueId>& ids) const {
    std::vector<TensorDesc> result;
    for (const graph::ValueId id : ids) result.push_back(result_.graph.values[id].desc);
    return result;
  }

  void infer() {
    try {
      graph::infer_shapes(result_.graph);
    } catch (const Error& error) {
      fail(error.what());
    }
  }

  void check_outputs(const std::vector<TensorDesc>& declared) const {
    const std::vector<TensorDesc> made = descs(result_.graph.outputs);
    for (std::size_t i = 0; i < made.size(); ++i)
      if (made[i].dtype != declared[i].dtype || made[i].shape != declared[i].shape)
        fail("output " + std::to_string(i) + " is " + to_string(made[i]) + ", described as " +
             to_string(declared[i]));
  }

  /// <index>_<op>_<type>_<format>_<shape>..., with the numbers of the types and formats.
  std::string default_name() const {
    std::string name = std::to_string(index_) + "_" + type_;
    const auto add = [&](const json& tensor) {
      const TensorDesc desc = description(tensor);
      const auto format = format_from_name(text(tensor, "format")).value_or(Format::kND);
      name += "_" + std::to_string(static_cast<int>(desc.dtype)) + "_" +
              std::to_string(static_cast<int>(format));
      for (const std::int64_t dim : desc.shape) name += "_" + std::to_string(dim);
    };
    for (const json& tensor : list("input_desc"))
      if (tensor.value("type", "") != "UNDEFINED") add(tensor);
    for (const json& tensor : list("output_desc")) add(tensor);
    return name;
  }

  const json& op_;
  const std::size_t index_;
  const std::string where_;
  std::string type_;
  const reference::OpDef* def_ = nullptr;
  bool is_onnx_ = false;
  int inputs_ = 0;
  SingleOp result_;
};

}  // namespace

void check_flags_of_single_ops(const boost::program_options::variables_map& flags) {
  for (const char* flag :
       {"input_shape", "input_value", "dynamic_batch_size", "dynamic_image_size", "dynamic_dims",
        "out_nodes", "output_type", "input_fp16_nodes", "insert_op_conf"})
    if (flags.contains(flag))
      reject("--" + std::string(flag), "is of models", "say it in the file of --singleop");
  if (flags["precision_mode"].as<std::string>() == "allow_mix_precision_fp16")
    reject("--precision_mode", "chooses by the error of a model",
           "use another one with --singleop");
}

std::vector<SingleOp> read_single_ops(const std::filesystem::path& path) {
  const std::string where = "--singleop " + path.string();
  const json content = read_json_file(path, ExitCode::kModel);
  if (!content.is_array() || content.empty())
    throw Error(ExitCode::kUsage, "is no JSON list of operators", where);
  std::vector<SingleOp> ops;
  std::set<std::string> names;
  for (std::size_t i = 0; i < content.size(); ++i) {
    ops.push_back(Reader(content[i], i, where).read());
    if (!names.insert(ops.back().name).second)
      throw Error(ExitCode::kUsage, "two operators are named '" + ops.back().name + "'", where);
  }
  return ops;
}

}  // namespace aoe::options
