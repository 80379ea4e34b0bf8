// AttributeProto -> reference::Attrs, and what a Constant node says.
#include <algorithm>
#include <cstring>

#include "base/error.h"
#include "graph/import/onnx_proto.h"
#include "graph/import/small_types.h"

namespace aoe::graph {
namespace {

using Proto = onnx::AttributeProto;

/// Models older than IR version 2 leave the type out; the field that is set tells it.
Proto::AttributeType type_of(const Proto& attribute) {
  if (attribute.type() != Proto::UNDEFINED) return attribute.type();
  if (attribute.has_f()) return Proto::FLOAT;
  if (attribute.has_i()) return Proto::INT;
  if (attribute.has_s()) return Proto::STRING;
  if (attribute.has_t()) return Proto::TENSOR;
  if (attribute.has_g()) return Proto::GRAPH;
  if (attribute.floats_size() > 0) return Proto::FLOATS;
  if (attribute.strings_size() > 0) return Proto::STRINGS;
  return Proto::INTS;
}

bool has_text_type(const onnx::TensorProto& tensor) {
  return tensor.data_type() == onnx::TensorProto::STRING;
}

std::vector<std::string> strings_in(const google::protobuf::RepeatedPtrField<std::string>& field) {
  return {field.begin(), field.end()};
}

template <typename T, typename Field>
ConstantPtr vector_constant(DataType dtype, const Field& field) {
  auto constant =
      std::make_shared<Constant>(TensorDesc{.dtype = dtype, .shape = {std::ssize(field)}});
  T* to = static_cast<T*>(constant->mutable_data());
  for (const T value : field) *to++ = value;
  return constant;
}

template <typename T>
ConstantPtr scalar_constant(DataType dtype, T value) {
  return std::make_shared<Constant>(TensorDesc{.dtype = dtype}, &value);
}

}  // namespace

const Proto* attribute_of(const onnx::NodeProto& node, std::string_view name) {
  for (const Proto& each : node.attribute())
    if (each.name() == name) return &each;
  return nullptr;
}

const Proto* resolve(const Proto& attribute, const CallAttributes& call) {
  if (attribute.ref_attr_name().empty()) return &attribute;
  const auto found = call.find(attribute.ref_attr_name());
  return found == call.end() ? nullptr : found->second;
}

reference::Attrs read_attributes(const onnx::NodeProto& node, const CallAttributes& call,
                                 const TensorReader& tensors) {
  reference::Attrs attrs;
  for (const Proto& own : node.attribute()) {
    const Proto* attribute = resolve(own, call);
    if (attribute == nullptr) continue;
    const std::string& key = own.name();
    switch (type_of(*attribute)) {
      case Proto::FLOAT:
        attrs.set(key, attribute->f());
        break;
      case Proto::INT:
        attrs.set(key, static_cast<std::int64_t>(attribute->i()));
        break;
      case Proto::STRING:
        if (key == "auto_pad" && attribute->s().empty()) break;  // as if it were not there
        attrs.set(key, attribute->s());
        break;
      case Proto::TENSOR:
        if (has_text_type(attribute->t())) {
          attrs.set(key, strings_in(attribute->t().string_data()));
          break;
        }
        if (const SmallType* small = small_type(attribute->t().data_type()))
          throw Error(ExitCode::kModel,
                      "attribute '" + key + "' is a tensor of " + std::string(small->name),
                      "node " + describe(node));
        attrs.set(key, tensors.read(attribute->t()));
        break;
      case Proto::SPARSE_TENSOR:
        attrs.set(key, tensors.read(attribute->sparse_tensor()));
        break;
      case Proto::FLOATS:
        attrs.set(key, std::vector<float>(attribute->floats().begin(), attribute->floats().end()));
        break;
      case Proto::INTS:
        attrs.set(key,
                  std::vector<std::int64_t>(attribute->ints().begin(), attribute->ints().end()));
        break;
      case Proto::STRINGS:
        attrs.set(key, strings_in(attribute->strings()));
        break;
      case Proto::GRAPH:
        break;  // the importer deals with subgraphs
      default:
        throw Error(ExitCode::kModel, "attribute '" + key + "' is of a kind that is not supported",
                    "node " + describe(node));
    }
  }
  return attrs;
}

bool holds_texts(const onnx::NodeProto& node, const CallAttributes& call) {
  return std::ranges::any_of(node.attribute(), [&](const Proto& own) {
    const Proto* value = resolve(own, call);
    return own.name().starts_with("value_string") ||
           (value != nullptr && own.name() == "value" && has_text_type(value->t()));
  });
}

ConstantPtr read_constant_node(const onnx::NodeProto& node, const CallAttributes& call,
                               const TensorReader& tensors, TextTable& texts) {
  for (const Proto& own : node.attribute()) {
    const Proto* value = resolve(own, call);
    if (value == nullptr) continue;
    if (own.name() == "value") return tensors.read(value->t());
    if (own.name() == "sparse_value") return tensors.read(value->sparse_tensor());
    if (own.name() == "value_float") return scalar_constant(DataType::kFloat, value->f());
    if (own.name() == "value_int")
      return scalar_constant<std::int64_t>(DataType::kInt64, value->i());
    if (own.name() == "value_floats")
      return vector_constant<float>(DataType::kFloat, value->floats());
    if (own.name() == "value_ints")
      return vector_constant<std::int64_t>(DataType::kInt64, value->ints());
    if (own.name() == "value_string")
      return scalar_constant<std::int64_t>(DataType::kInt64, texts.place_of(value->s()));
    if (own.name() == "value_strings")
      return vector_constant<std::int64_t>(DataType::kInt64,
                                           texts.places_of(strings_in(value->strings())));
  }
  throw Error(ExitCode::kModel, "has no value", "node " + describe(node));
}

}  // namespace aoe::graph
