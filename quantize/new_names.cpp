// See new_names.h.
#include "quantize/new_names.h"

namespace aoe::quantize {

NewNames::NewNames(const onnx::GraphProto& graph) {
  take_names_of(graph);
}

void NewNames::take_names_of(const onnx::GraphProto& graph) {
  for (const auto& input : graph.input()) taken_.insert(input.name());
  for (const auto& tensor : graph.initializer()) taken_.insert(tensor.name());
  for (const onnx::NodeProto& node : graph.node()) {
    taken_.insert(node.output().begin(), node.output().end());
    for (const onnx::AttributeProto& attribute : node.attribute()) {
      if (attribute.has_g()) take_names_of(attribute.g());
      for (const onnx::GraphProto& body : attribute.graphs()) take_names_of(body);
    }
  }
}

const std::string& NewNames::of(const std::string& value, const std::string& suffix) {
  std::string& name = given_[{value, suffix}];
  if (!name.empty()) return name;
  name = value + suffix;
  for (int number = 1; !taken_.insert(name).second; ++number)
    name = value + suffix + "_" + std::to_string(number);
  return name;
}

}  // namespace aoe::quantize
