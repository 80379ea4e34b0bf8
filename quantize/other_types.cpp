// Most operators give the type that they read.
#include "quantize/other_types.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <string_view>

#include "graph/import/onnx_proto.h"

namespace aoe::quantize {
namespace {

constexpr std::array<std::string_view, 20> kGiveOtherTypes = {"And",
                                                              "ArgMax",
                                                              "ArgMin",
                                                              "BitShift",
                                                              "Equal",
                                                              "Greater",
                                                              "GreaterOrEqual",
                                                              "IsInf",
                                                              "IsNaN",
                                                              "Less",
                                                              "LessOrEqual",
                                                              "NonZero",
                                                              "Not",
                                                              "NonMaxSuppression",
                                                              "Or",
                                                              "QuantizeLinear",
                                                              "Shape",
                                                              "SequenceLength",
                                                              "Size",
                                                              "Xor"};

class OtherTypes {
 public:
  explicit OtherTypes(const onnx::GraphProto& graph) {
    for (const auto* list : {&graph.input(), &graph.output(), &graph.value_info()})
      for (const onnx::ValueInfoProto& value : *list)
        if (const int type = value.type().tensor_type().elem_type(); type != 0)
          declared_[value.name()] = type;
    for (const onnx::TensorProto& tensor : graph.initializer())
      declared_[tensor.name()] = tensor.data_type();
    for (const auto& [name, type] : declared_)
      if (type != onnx::TensorProto::FLOAT) values_.insert(name);
    for (const onnx::NodeProto& node : graph.node())
      for (int i = 0; i < node.output_size(); ++i)
        if (!declared_.contains(node.output(i)) && is_other(node, i))
          values_.insert(node.output(i));
  }

  std::set<std::string> take() { return std::move(values_); }

 private:
  bool is_other(const onnx::NodeProto& node, int output) const {
    const std::string& type = node.op_type();
    if (std::ranges::find(kGiveOtherTypes, type) != kGiveOtherTypes.end()) return true;
    if (const auto stated = stated_type(node)) return *stated != onnx::TensorProto::FLOAT;
    const bool gives_places = type == "TopK" || type == "MaxPool" || type == "Unique";
    if (gives_places && output > 0) return true;
    const int read = type == "Where" ? 1 : type == "OneHot" ? 2 : 0;
    return read < node.input_size() && values_.contains(node.input(read));
  }

  /// By an attribute.
  static std::optional<int> stated_type(const onnx::NodeProto& node) {
    const std::string& type = node.op_type();
    if (type == "Cast")
      if (const auto* to = graph::attribute_of(node, "to")) return static_cast<int>(to->i());
    if (type == "ConstantOfShape" || type == "Constant") {
      const auto* value = graph::attribute_of(node, "value");
      if (value != nullptr) return value->t().data_type();
      const bool holds_integers = graph::attribute_of(node, "value_int") != nullptr ||
                                  graph::attribute_of(node, "value_ints") != nullptr;
      return holds_integers ? onnx::TensorProto::INT64 : onnx::TensorProto::FLOAT;
    }
    if (type == "EyeLike" || type.starts_with("Random") || type == "Multinomial")
      if (const auto* dtype = graph::attribute_of(node, "dtype"))
        return static_cast<int>(dtype->i());
    return std::nullopt;
  }

  std::map<std::string, int> declared_;
  std::set<std::string> values_;
};

}  // namespace

std::set<std::string> values_of_other_types(const onnx::GraphProto& graph) {
  return OtherTypes(graph).take();
}

}  // namespace aoe::quantize
