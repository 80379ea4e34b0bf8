// Writes the quantised operators: which values become bytes, then one walk over the nodes.
#include "tools/make_model/quantize.h"

#include <onnx/onnx_pb.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "tools/make_model/initializers.h"

namespace aoe::make_model {
namespace {

constexpr float kBytes = 255;

std::int64_t attribute(const onnx::NodeProto& node, const std::string& name,
                       std::int64_t fallback) {
  for (const auto& each : node.attribute())
    if (each.name() == name) return each.i();
  return fallback;
}

class Quantizer {
 public:
  Quantizer(onnx::GraphProto& graph, const std::map<std::string, Range>& ranges, QuantForm form)
      : graph_(graph), ranges_(ranges), form_(form), initializers_(graph) {
    for (const onnx::NodeProto& node : graph.node()) {
      has_images_ = has_images_ || node.op_type() == "Conv";
      for (const std::string& input : node.input()) readers_[input].push_back(&node);
    }
    for (const auto& output : graph.output()) graph_outputs_.insert(output.name());
  }

  void run() {
    for (const onnx::NodeProto& node : graph_.node()) choose_values(node);
    for (const auto& input : graph_.input()) quantize_value(input.name());
    for (const onnx::NodeProto& node : graph_.node()) rewrite(node);
    drop_unread_initializers();
    graph_.mutable_node()->Clear();
    for (onnx::NodeProto& node : nodes_) graph_.add_node()->Swap(&node);
  }

 private:
  bool is_product(const onnx::NodeProto& node) const {
    const std::string& type = node.op_type();
    const bool is_one =
        type == "Conv" || type == "MatMul" || (type == "Gemm" && attribute(node, "transA", 0) == 0);
    return is_one && initializers_.has(node.input(1)) && !initializers_.has(node.input(0));
  }

  bool is_addition(const onnx::NodeProto& node) const {
    return has_images_ && node.op_type() == "Add" && !initializers_.has(node.input(0)) &&
           !initializers_.has(node.input(1));
  }

  /// The only reader of a value that the model does not give out; null otherwise.
  const onnx::NodeProto* sole_reader(const std::string& value) const {
    const auto found = readers_.find(value);
    const bool is_sole =
        found != readers_.end() && found->second.size() == 1 && !graph_outputs_.contains(value);
    return is_sole ? found->second.front() : nullptr;
  }

  /// The value behind the bias and the activation that belong to an operator.
  std::string result_of(const onnx::NodeProto& node) const {
    std::string value = node.output(0);
    const onnx::NodeProto* next = sole_reader(value);
    if (form_ == QuantForm::kQdq && node.op_type() == "MatMul" && next != nullptr &&
        next->op_type() == "Add" &&
        (initializers_.has(next->input(0)) || initializers_.has(next->input(1)))) {
      value = next->output(0);
      next = sole_reader(value);
    }
    const bool is_activation =
        next != nullptr && (next->op_type() == "Relu" || next->op_type() == "Clip");
    return is_activation ? next->output(0) : value;
  }

  void choose_values(const onnx::NodeProto& node) {
    if (is_product(node) || is_addition(node)) {
      choose(node.input(0));
      if (is_addition(node)) choose(node.input(1));
      choose(result_of(node));
    }
    if (has_images_ && node.op_type() == "MaxPool" && chosen_.contains(node.input(0))) {
      same_scale_[node.output(0)] = node.input(0);
      choose(node.output(0));
    }
  }

  void choose(const std::string& value) {
    if (!graph_outputs_.contains(value)) chosen_.insert(value);
  }

  onnx::NodeProto& add_node(const std::string& name, const std::string& type,
                            const std::vector<std::string>& inputs, const std::string& output) {
    onnx::NodeProto& node = nodes_.emplace_back();
    node.set_name(name);
    node.set_op_type(type);
    for (const std::string& input : inputs) node.add_input(input);
    node.add_output(output);
    return node;
  }

  /// Scale and zero point of an activation, as initializers; returns their names' stem.
  std::string activation_parameters(const std::string& value) {
    const auto source = same_scale_.find(value);
    if (source != same_scale_.end()) return activation_parameters(source->second);
    if (scales_.contains(value)) return value;
    const Range range = ranges_.at(value);
    const float low = std::min(range.low, 0.0f), high = std::max(range.high, 0.0f);
    const float scale = std::max((high - low) / kBytes, 1e-8f);
    scales_[value] = scale;
    initializers_.set(value + "_scale", {}, std::vector<float>{scale});
    const float zero = std::clamp(std::nearbyint(-low / scale), 0.0f, kBytes);
    initializers_.set(value + "_zero_point", {},
                      std::vector<std::uint8_t>{static_cast<std::uint8_t>(zero)});
    return value;
  }

  void quantize_value(const std::string& value) {
    if (!chosen_.contains(value)) return;
    const std::string p = activation_parameters(value);
    add_node(value + "_QuantizeLinear", "QuantizeLinear", {value, p + "_scale", p + "_zero_point"},
             value + "_quantized");
    dequantize_value(value);
  }

  void dequantize_value(const std::string& value) {
    const std::string p = activation_parameters(value);
    add_node(value + "_DequantizeLinear", "DequantizeLinear",
             {value + "_quantized", p + "_scale", p + "_zero_point"}, value + "_dequantized");
  }

  std::string read(const std::string& value) const {
    return chosen_.contains(value) ? value + "_dequantized" : value;
  }

  /// Which axis of a weight counts the outputs.
  static std::size_t output_axis(const onnx::NodeProto& node) {
    const bool is_first = node.op_type() == "Conv" || attribute(node, "transB", 0) != 0;
    return is_first ? 0 : 1;
  }

  /// The weight as bytes, `<weight>_quantized`, `_scale`, `_zero_point`, and the bias as int32.
  void quantize_constants(const onnx::NodeProto& node) {
    const std::string weight = node.input(1);
    const Shape shape = initializers_.shape(weight);
    const auto values = initializers_.floats(weight);
    const std::size_t axis = output_axis(node);
    const auto outputs = static_cast<std::size_t>(shape[axis]);
    const std::size_t inner = axis == 0 ? values.size() / outputs : 1;
    const auto output_of = [&](std::size_t i) { return i / inner % outputs; };
    std::vector<float> scales(outputs, 0);
    for (std::size_t i = 0; i < values.size(); ++i)
      scales[output_of(i)] = std::max(scales[output_of(i)], std::abs(values[i]) / 127);
    for (float& scale : scales) scale = scale == 0 ? 1 : scale;
    std::vector<std::int8_t> bytes(values.size());
    for (std::size_t i = 0; i < values.size(); ++i)
      bytes[i] = static_cast<std::int8_t>(std::nearbyint(values[i] / scales[output_of(i)]));
    const Shape per_output = {static_cast<std::int64_t>(outputs)};
    initializers_.set(weight + "_quantized", shape, bytes);
    initializers_.set(weight + "_scale", per_output, scales);
    initializers_.set(weight + "_zero_point", per_output, std::vector<std::int8_t>(outputs));
    if (node.input_size() < 3) return;
    const std::string bias = node.input(2);
    const auto real = initializers_.floats(bias);
    const float x_scale = scales_.at(activation_parameters(node.input(0)));
    std::vector<std::int32_t> whole(outputs);
    for (std::size_t i = 0; i < outputs; ++i) {
      scales[i] *= x_scale;
      whole[i] = static_cast<std::int32_t>(std::nearbyint(real[i] / scales[i]));
    }
    initializers_.set(bias + "_quantized", per_output, whole);
    initializers_.set(bias + "_scale", per_output, scales);
    initializers_.set(bias + "_zero_point", per_output, std::vector<std::int32_t>(outputs));
  }

  std::string dequantize_constant(const std::string& name, std::size_t axis) {
    onnx::NodeProto& node = add_node(name + "_DequantizeLinear", "DequantizeLinear",
                                     {name + "_quantized", name + "_scale", name + "_zero_point"},
                                     name + "_dequantized");
    onnx::AttributeProto& to = *node.add_attribute();
    to.set_name("axis");
    to.set_type(onnx::AttributeProto::INT);
    to.set_i(static_cast<std::int64_t>(axis));
    return name + "_dequantized";
  }

  void rewrite(const onnx::NodeProto& node) {
    if (skipped_.contains(node.output(0))) return;
    if (is_product(node)) {
      quantize_constants(node);
      const bool has_form = node.op_type() == "Conv" || node.op_type() == "MatMul";
      if (form_ == QuantForm::kQLinear && has_form && chosen_.contains(result_of(node)))
        return write_qlinear(node);
    }
    onnx::NodeProto copy = node;
    for (std::string& input : *copy.mutable_input()) input = read(input);
    if (is_product(node)) {
      copy.set_input(1, dequantize_constant(node.input(1), output_axis(node)));
      if (node.input_size() > 2) copy.set_input(2, dequantize_constant(node.input(2), 0));
    }
    nodes_.push_back(copy);
    for (const std::string& output : node.output()) quantize_value(output);
  }

  /// The activation is the saturation: zero is the least that bytes stand for there.
  void write_qlinear(const onnx::NodeProto& node) {
    const std::string x = node.input(0), w = node.input(1), y = result_of(node);
    if (y != node.output(0)) skipped_.insert(y);
    const std::string from = activation_parameters(x), to = activation_parameters(y);
    std::vector<std::string> inputs = {x + "_quantized", from + "_scale",   from + "_zero_point",
                                       w + "_quantized", w + "_scale",      w + "_zero_point",
                                       to + "_scale",    to + "_zero_point"};
    if (node.input_size() > 2) inputs.push_back(node.input(2) + "_quantized");
    onnx::NodeProto& linear =
        add_node(node.name(), "QLinear" + node.op_type(), inputs, y + "_quantized");
    *linear.mutable_attribute() = node.attribute();
    dequantize_value(y);
  }

  void drop_unread_initializers() {
    std::set<std::string> read;
    for (const onnx::NodeProto& node : nodes_)
      read.insert(node.input().begin(), node.input().end());
    auto& tensors = *graph_.mutable_initializer();
    int kept = 0;
    for (int i = 0; i < tensors.size(); ++i)
      if (read.contains(tensors[i].name())) tensors.SwapElements(kept++, i);
    tensors.DeleteSubrange(kept, tensors.size() - kept);
  }

  onnx::GraphProto& graph_;
  const std::map<std::string, Range>& ranges_;
  QuantForm form_;
  Initializers initializers_;
  bool has_images_ = false;
  std::map<std::string, std::vector<const onnx::NodeProto*>> readers_;
  std::set<std::string> graph_outputs_;
  std::set<std::string> chosen_;  ///< values that become bytes
  std::map<std::string, std::string>
      same_scale_;  ///< a pooled value -> the value it was pooled from
  std::map<std::string, float> scales_;
  std::set<std::string> skipped_;  ///< results of activations that a QLinear operator has taken in
  std::vector<onnx::NodeProto> nodes_;
};

}  // namespace

void quantize(onnx::ModelProto& model, const std::map<std::string, Range>& ranges, QuantForm form) {
  Quantizer(*model.mutable_graph(), ranges, form).run();
}

}  // namespace aoe::make_model
