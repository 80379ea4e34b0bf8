// Readers, layers and where they end.
#include "quantize/float_graph.h"

#include "graph/import/onnx_proto.h"
#include "quantize/other_types.h"

namespace aoe::quantize {

std::int64_t int_attribute(const onnx::NodeProto& node, const std::string& name,
                           std::int64_t fallback) {
  const onnx::AttributeProto* const found = graph::attribute_of(node, name);
  return found == nullptr ? fallback : found->i();
}

FloatGraph::FloatGraph(const onnx::GraphProto& graph, const Initializers& initializers)
    : initializers_(initializers), others_(values_of_other_types(graph)) {
  for (const onnx::NodeProto& node : graph.node()) {
    has_images_ = has_images_ || node.op_type() == "Conv";
    for (const std::string& value : graph::names_read(node)) readers_[value].push_back(&node);
  }
  for (const auto& output : graph.output()) outputs_.insert(output.name());
}

bool FloatGraph::is_float_constant(const std::string& value) const {
  return initializers_.has(value) && initializers_.is_float(value);
}

bool FloatGraph::is_product(const onnx::NodeProto& node) const {
  const std::string& type = node.op_type();
  const bool is_conv = type == "Conv";
  const bool is_matrix =
      type == "MatMul" || (type == "Gemm" && int_attribute(node, "transA", 0) == 0);
  if (!node.domain().empty() || !(is_conv || is_matrix) || node.input_size() < 2) return false;
  if (!is_float_constant(node.input(1)) || initializers_.has(node.input(0))) return false;
  const Shape shape = initializers_.shape(node.input(1));
  return element_count(shape) > 0 && (is_conv ? shape.size() >= 3 : shape.size() == 2);
}

bool FloatGraph::is_addition(const onnx::NodeProto& node) const {
  return has_images_ && node.domain().empty() && node.op_type() == "Add" &&
         !initializers_.has(node.input(0)) && !initializers_.has(node.input(1)) &&
         !others_.contains(node.output(0));
}

bool FloatGraph::is_pooling(const onnx::NodeProto& node) const {
  return has_images_ && node.domain().empty() && node.op_type() == "MaxPool" &&
         node.output_size() == 1 && !others_.contains(node.output(0));
}

bool FloatGraph::has_constant_bias(const onnx::NodeProto& node) const {
  return node.input_size() > 2 && is_float_constant(node.input(2));
}

const onnx::NodeProto* FloatGraph::sole_reader(const std::string& value) const {
  const auto found = readers_.find(value);
  const bool is_sole = found != readers_.end() && found->second.size() == 1 && !is_output(value);
  return is_sole ? found->second.front() : nullptr;
}

std::string FloatGraph::result_of(const onnx::NodeProto& layer, QuantForm form) const {
  std::string value = layer.output(0);
  const onnx::NodeProto* next = sole_reader(value);
  const bool may_have_bias = form == QuantForm::kQdq && layer.op_type() == "MatMul";
  if (may_have_bias && next != nullptr && next->op_type() == "Add" &&
      (initializers_.has(next->input(0)) || initializers_.has(next->input(1)))) {
    value = next->output(0);
    next = sole_reader(value);
  }
  const bool is_activation =
      next != nullptr && (next->op_type() == "Relu" || next->op_type() == "Clip");
  return is_activation ? next->output(0) : value;
}

std::size_t FloatGraph::output_axis(const onnx::NodeProto& product) {
  const bool is_first = product.op_type() == "Conv" || int_attribute(product, "transB", 0) != 0;
  return is_first ? 0 : 1;
}

}  // namespace aoe::quantize
