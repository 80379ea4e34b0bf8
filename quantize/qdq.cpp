// Writes the quantised operators: which values become bytes, then one walk over the nodes.
#include "quantize/qdq.h"

#include <onnx/onnx_pb.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "base/check.h"
#include "graph/import/onnx_proto.h"
#include "quantize/float_graph.h"
#include "quantize/initializers.h"
#include "quantize/new_names.h"

namespace aoe::quantize {
namespace {

constexpr float kBytes = 255;
/// From here on ONNX's own DequantizeLinear has a scale per channel; in older models stands com.microsoft's.
constexpr int kFirstPerChannelOpset = 13;

std::string quantise_domain(onnx::ModelProto& model) {
  for (const auto& import : model.opset_import())
    if ((import.domain().empty() || import.domain() == "ai.onnx") &&
        import.version() >= kFirstPerChannelOpset)
      return "";
  const std::string domain = "com.microsoft";
  const auto is_it = [&](const auto& import) { return import.domain() == domain; };
  if (std::ranges::none_of(model.opset_import(), is_it)) {
    onnx::OperatorSetIdProto& import = *model.add_opset_import();
    import.set_domain(domain);
    import.set_version(1);
  }
  return domain;
}

/// Which values become bytes: inputs and results of layers, and what is pooled from them.
class ByteValues {
 public:
  ByteValues(const onnx::GraphProto& graph, const FloatGraph& facts, const QdqOptions& options)
      : facts_(facts) {
    for (const onnx::NodeProto& node : graph.node()) {
      const bool is_chosen = facts.is_layer(node) && !options.float_layers.contains(node.output(0));
      if (is_chosen) {
        choose(node.input(0));
        if (facts.is_addition(node)) choose(node.input(1));
        choose(facts.result_of(node, options.form));
      }
      if (facts.is_pooling(node) && chosen_.contains(node.input(0))) {
        sources_[node.output(0)] = node.input(0);
        choose(node.output(0));
      }
    }
  }

  bool contains(const std::string& value) const { return chosen_.contains(value); }
  const std::set<std::string>& all() const { return chosen_; }

  /// Whose scale it has: the value that it was pooled from, else its own.
  const std::string& scale_source(const std::string& value) const {
    const auto source = sources_.find(value);
    return source == sources_.end() ? value : scale_source(source->second);
  }

 private:
  void choose(const std::string& value) {
    if (!facts_.is_output(value)) chosen_.insert(value);
  }

  const FloatGraph& facts_;
  std::set<std::string> chosen_;
  std::map<std::string, std::string> sources_;  ///< a pooled value -> what it was pooled from
};

class Writer {
 public:
  Writer(onnx::ModelProto& model, const Ranges& ranges, const QdqOptions& options)
      : domain_(quantise_domain(model)),
        graph_(*model.mutable_graph()),
        ranges_(ranges),
        options_(options),
        names_(graph_),
        initializers_(graph_),
        facts_(graph_, initializers_),
        bytes_(graph_, facts_, options) {}

  void write() {
    for (const auto& input : graph_.input()) quantize_value(input.name());
    for (const onnx::NodeProto& node : graph_.node()) rewrite(node);
    take_nodes();
    drop_unread_initializers();
  }

  /// Returns what the copies give, by what the layers give.
  std::map<std::string, std::string> write_copies() {
    const std::vector<onnx::NodeProto> originals(graph_.node().begin(), graph_.node().end());
    for (const onnx::NodeProto& node : originals) {
      nodes_.push_back(node);
      if (facts_.is_layer(node)) write_copy(node);
    }
    take_nodes();
    return std::move(copies_);
  }

 private:
  onnx::NodeProto& add_node(const std::string& name, const std::string& type,
                            const std::vector<std::string>& inputs, const std::string& output) {
    onnx::NodeProto& node = nodes_.emplace_back();
    node.set_name(name);
    node.set_op_type(type);
    for (const std::string& input : inputs) node.add_input(input);
    node.add_output(output);
    return node;
  }

  // What is added for a value, under names that the model does not have.
  std::string scale(const std::string& value) { return names_.of(value, "_scale"); }
  std::string zero_point(const std::string& value) { return names_.of(value, "_zero_point"); }
  std::string quantized(const std::string& value) { return names_.of(value, "_quantized"); }
  std::string dequantized(const std::string& value) { return names_.of(value, "_dequantized"); }

  /// Scale and zero point of an activation, as initializers; returns whose they are.
  std::string activation_parameters(const std::string& value) {
    const std::string& source = bytes_.scale_source(value);
    if (scales_.contains(source)) return source;
    const Range range = ranges_.at(source);
    const float low = std::min(range.low, 0.0f), high = std::max(range.high, 0.0f);
    const float step = std::max((high - low) / kBytes, 1e-8f);
    scales_[source] = step;
    initializers_.set(scale(source), {}, std::vector<float>{step});
    const float zero = std::clamp(std::nearbyint(-low / step), 0.0f, kBytes);
    initializers_.set(zero_point(source), {},
                      std::vector<std::uint8_t>{static_cast<std::uint8_t>(zero)});
    return source;
  }

  void quantize_value(const std::string& value) {
    if (!bytes_.contains(value) || is_written(quantized(value))) return;
    const std::string p = activation_parameters(value);
    add_node(value + "_QuantizeLinear", "QuantizeLinear", {value, scale(p), zero_point(p)},
             quantized(value))
        .set_domain(domain_);
    dequantize_value(value);
  }

  void dequantize_value(const std::string& value) {
    const std::string p = activation_parameters(value);
    add_node(value + "_DequantizeLinear", "DequantizeLinear",
             {quantized(value), scale(p), zero_point(p)}, dequantized(value))
        .set_domain(domain_);
  }

  std::string read(const std::string& value) {
    return bytes_.contains(value) ? dequantized(value) : value;
  }

  /// True but for the first time that it is asked of a name.
  bool is_written(const std::string& name) { return !written_.insert(name).second; }

  /// The weight as bytes, with scales and zero points. Returns the scales.
  std::vector<float> quantize_weight(const onnx::NodeProto& node) {
    const std::string& weight = node.input(1);
    const Shape shape = initializers_.shape(weight);
    const auto values = initializers_.floats(weight);
    const std::size_t axis = FloatGraph::output_axis(node);
    const auto outputs = static_cast<std::size_t>(shape[axis]);
    const std::size_t inner = axis == 0 ? values.size() / outputs : 1;
    const auto output_of = [&](std::size_t i) { return i / inner % outputs; };
    std::vector<float> scales(outputs, 0);
    for (std::size_t i = 0; i < values.size(); ++i)
      scales[output_of(i)] = std::max(scales[output_of(i)], std::abs(values[i]) / 127);
    for (float& each : scales) each = each == 0 ? 1 : each;
    if (is_written(quantized(weight))) return scales;
    std::vector<std::int8_t> bytes(values.size());
    for (std::size_t i = 0; i < values.size(); ++i)
      bytes[i] = static_cast<std::int8_t>(std::nearbyint(values[i] / scales[output_of(i)]));
    const Shape per_output = {static_cast<std::int64_t>(outputs)};
    initializers_.set(quantized(weight), shape, bytes);
    initializers_.set(scale(weight), per_output, scales);
    initializers_.set(zero_point(weight), per_output, std::vector<std::int8_t>(outputs));
    return scales;
  }

  /// Each layer's bias has its own bytes: their scale is that of what is added up there.
  std::string bias_of(const onnx::NodeProto& node) { return names_.of(node.output(0), "_bias"); }

  void quantize_bias(const onnx::NodeProto& node, std::vector<float> scales) {
    const auto real = initializers_.floats(node.input(2));
    const float x_scale = scales_.at(activation_parameters(node.input(0)));
    const std::size_t outputs = scales.size();
    std::vector<std::int32_t> whole(outputs);
    for (std::size_t i = 0; i < outputs; ++i) {
      scales[i] *= x_scale;
      // What does not fit is a bias that no product of bytes could be added to.
      const double steps = std::nearbyint(static_cast<double>(real[i % real.size()]) / scales[i]);
      whole[i] = static_cast<std::int32_t>(std::clamp(steps, -0x1p31, 0x1p31 - 1));
    }
    const Shape per_output = {static_cast<std::int64_t>(outputs)};
    const std::string bias = bias_of(node);
    initializers_.set(quantized(bias), per_output, whole);
    initializers_.set(scale(bias), per_output, scales);
    initializers_.set(zero_point(bias), per_output, std::vector<std::int32_t>(outputs));
  }

  /// A row of outputs, or one number for all of them; Gemm also takes what differs by row, which stays float32.
  bool has_bias_of_bytes(const onnx::NodeProto& node, std::size_t outputs) const {
    if (!facts_.has_constant_bias(node)) return false;
    const Shape shape = initializers_.shape(node.input(2));
    const auto count = static_cast<std::size_t>(element_count(shape));
    const bool is_scaled = std::ranges::any_of(
        node.attribute(), [](const auto& each) { return each.name() == "alpha" && each.f() != 1; });
    return !is_scaled && (count == outputs || count == 1) &&
           (shape.empty() || shape.back() == static_cast<std::int64_t>(count));
  }

  std::string dequantize_constant(const std::string& name, std::size_t axis) {
    if (is_written(dequantized(name))) return dequantized(name);
    onnx::NodeProto& node =
        add_node(name + "_DequantizeLinear", "DequantizeLinear",
                 {quantized(name), scale(name), zero_point(name)}, dequantized(name));
    node.set_domain(domain_);
    onnx::AttributeProto& to = *node.add_attribute();
    to.set_name("axis");
    to.set_type(onnx::AttributeProto::INT);
    to.set_i(static_cast<std::int64_t>(axis));
    return dequantized(name);
  }

  /// Points weight and bias of `product` at bytes.
  void use_bytes(onnx::NodeProto& product) {
    const std::vector<float> scales = quantize_weight(product);
    const bool has_bias = has_bias_of_bytes(product, scales.size());
    if (has_bias) quantize_bias(product, scales);
    const std::size_t axis = FloatGraph::output_axis(product);
    product.set_input(1, dequantize_constant(product.input(1), axis));
    if (has_bias) product.set_input(2, dequantize_constant(bias_of(product), 0));
  }

  bool is_float(const onnx::NodeProto& layer) const {
    return options_.float_layers.contains(layer.output(0));
  }

  void rewrite(const onnx::NodeProto& node) {
    if (skipped_.contains(node.output(0))) return;
    const bool is_product = facts_.is_product(node) && !is_float(node);
    const bool has_form = node.op_type() == "Conv" || node.op_type() == "MatMul";
    const bool has_known_bias = node.input_size() < 3 || facts_.has_constant_bias(node);
    if (is_product && options_.form == QuantForm::kQLinear && has_form && has_known_bias &&
        bytes_.contains(facts_.result_of(node, options_.form)))
      return write_qlinear(node);
    onnx::NodeProto copy = node;
    if (is_product) use_bytes(copy);
    // A layer that stays float32 reads what it always read, and so do those that no byte would help.
    const bool reads_floats = facts_.is_layer(node) && is_float(node);
    for (std::string& input : *copy.mutable_input())
      if (!reads_floats) input = read(input);
    nodes_.push_back(std::move(copy));
    for (const std::string& output : node.output()) quantize_value(output);
  }

  /// The activation is the saturation: zero is the least that bytes stand for there.
  void write_qlinear(const onnx::NodeProto& node) {
    const std::vector<float> scales = quantize_weight(node);
    if (node.input_size() > 2) quantize_bias(node, scales);
    const std::string &x = node.input(0), &w = node.input(1);
    const std::string y = facts_.result_of(node, options_.form);
    if (y != node.output(0)) skipped_.insert(y);
    const std::string from = activation_parameters(x), to = activation_parameters(y);
    std::vector<std::string> inputs = {quantized(x), scale(from),   zero_point(from),
                                       quantized(w), scale(w),      zero_point(w),
                                       scale(to),    zero_point(to)};
    if (node.input_size() > 2) inputs.push_back(quantized(bias_of(node)));
    onnx::NodeProto& linear =
        add_node(node.name(), "QLinear" + node.op_type(), inputs, quantized(y));
    *linear.mutable_attribute() = node.attribute();
    dequantize_value(y);
  }

  void write_copy(const onnx::NodeProto& layer) {
    onnx::NodeProto copy = layer;
    if (facts_.is_product(layer)) use_bytes(copy);
    const int activations = facts_.is_addition(layer) ? 2 : 1;
    for (int i = 0; i < activations; ++i) {
      quantize_value(layer.input(i));
      copy.set_input(i, read(layer.input(i)));
    }
    copy.set_name(layer.name() + "_local");
    copy.set_output(0, names_.of(layer.output(0), "_local"));
    copies_[layer.output(0)] = copy.output(0);
    nodes_.push_back(std::move(copy));
  }

  void take_nodes() {
    graph_.mutable_node()->Clear();
    for (onnx::NodeProto& node : nodes_) graph_.add_node()->Swap(&node);
  }

  void drop_unread_initializers() {
    std::set<std::string> read;
    for (const onnx::NodeProto& node : graph_.node())
      for (const std::string& name : graph::names_read(node)) read.insert(name);
    auto& tensors = *graph_.mutable_initializer();
    int kept = 0;
    for (int i = 0; i < tensors.size(); ++i)
      if (read.contains(tensors[i].name()) || facts_.is_output(tensors[i].name()))
        tensors.SwapElements(kept++, i);
    tensors.DeleteSubrange(kept, tensors.size() - kept);
  }

  std::string domain_;  ///< of QuantizeLinear and DequantizeLinear
  onnx::GraphProto& graph_;
  const Ranges& ranges_;
  const QdqOptions& options_;
  NewNames names_;
  WritableInitializers initializers_;
  FloatGraph facts_;
  ByteValues bytes_;
  std::map<std::string, float> scales_;  ///< of activations
  std::set<std::string> written_;
  std::map<std::string, std::string> copies_;
  std::set<std::string> skipped_;  ///< results of activations that a QLinear operator has taken in
  std::vector<onnx::NodeProto> nodes_;
};

}  // namespace

std::vector<Layer> layers_of(const onnx::GraphProto& graph) {
  const Initializers initializers(graph);
  const FloatGraph facts(graph, initializers);
  std::vector<Layer> layers;
  for (const onnx::NodeProto& node : graph.node())
    if (facts.is_layer(node))
      layers.push_back(
          {node.name().empty() ? node.output(0) : node.name(), node.op_type(), node.output(0)});
  return layers;
}

std::set<std::string> values_to_calibrate(const onnx::GraphProto& graph) {
  const Initializers initializers(graph);
  const FloatGraph facts(graph, initializers);
  // Of what is pooled too: it has its own scale where the layer in front of it stays float32.
  return ByteValues(graph, facts, {}).all();
}

void write_qdq(onnx::ModelProto& model, const Ranges& ranges, const QdqOptions& options) {
  Writer(model, ranges, options).write();
}

std::map<std::string, std::string> add_quantised_copies(onnx::ModelProto& model,
                                                        const Ranges& ranges) {
  return Writer(model, ranges, {}).write_copies();
}

}  // namespace aoe::quantize
