// Normalisations behind convolutions become their weights: a quantiser must see the weights that are computed with.
#include <onnx/onnx_pb.h>

#include <cmath>
#include <map>
#include <vector>

#include "graph/import/onnx_proto.h"
#include "quantize/float_graph.h"
#include "quantize/initializers.h"
#include "quantize/new_names.h"
#include "quantize/qdq.h"

namespace aoe::quantize {
namespace {

float epsilon_of(const onnx::NodeProto& norm) {
  const onnx::AttributeProto* const epsilon = graph::attribute_of(norm, "epsilon");
  return epsilon == nullptr ? 1e-5f : epsilon->f();
}

bool has_constants(const Initializers& initializers, const onnx::NodeProto& node, int first,
                   int end) {
  for (int i = first; i < end; ++i)
    if (i >= node.input_size() || !initializers.has(node.input(i)) ||
        !initializers.is_float(node.input(i)))
      return false;
  return true;
}

/// Weights get names of their own: another convolution may share them.
void fold(WritableInitializers& initializers, NewNames& names, const onnx::NodeProto& norm,
          onnx::NodeProto& conv) {
  const auto gamma = initializers.floats(norm.input(1)), beta = initializers.floats(norm.input(2));
  const auto mean = initializers.floats(norm.input(3)),
             variance = initializers.floats(norm.input(4));
  const Shape shape = initializers.shape(conv.input(1));
  auto weight = initializers.floats(conv.input(1));
  std::vector<float> bias(gamma.size());
  if (conv.input_size() > 2) bias = initializers.floats(conv.input(2));
  const std::size_t per_channel = weight.size() / gamma.size();
  for (std::size_t c = 0; c < gamma.size(); ++c) {
    const float factor = gamma[c] / std::sqrt(variance[c] + epsilon_of(norm));
    for (std::size_t i = 0; i < per_channel; ++i) weight[c * per_channel + i] *= factor;
    bias[c] = (bias[c] - mean[c]) * factor + beta[c];
  }
  const std::string folded_weight = names.of(norm.output(0), "_folded_weight");
  const std::string folded_bias = names.of(norm.output(0), "_folded_bias");
  initializers.set(folded_weight, shape, weight);
  initializers.set(folded_bias, {static_cast<std::int64_t>(bias.size())}, bias);
  conv.set_input(1, folded_weight);
  if (conv.input_size() == 2) conv.add_input();
  conv.set_input(2, folded_bias);
  conv.set_output(0, norm.output(0));
}

}  // namespace

void fold_batch_norms(onnx::ModelProto& model) {
  onnx::GraphProto& graph = *model.mutable_graph();
  WritableInitializers initializers(graph);
  NewNames names(graph);
  const FloatGraph facts(graph, initializers);
  std::map<std::string, onnx::NodeProto*> foldable;  // convolutions, by output
  std::map<std::string, onnx::NodeProto*> norms;     // by input
  for (onnx::NodeProto& node : *graph.mutable_node()) {
    if (facts.is_product(node) && node.op_type() == "Conv" &&
        has_constants(initializers, node, 1, node.input_size()) &&
        facts.sole_reader(node.output(0)) != nullptr)
      foldable[node.output(0)] = &node;
    const bool is_norm = node.domain().empty() && node.op_type() == "BatchNormalization" &&
                         node.output_size() == 1 && int_attribute(node, "training_mode", 0) == 0;
    if (is_norm && has_constants(initializers, node, 1, 5)) norms[node.input(0)] = &node;
  }
  std::set<std::string> folded;
  for (const auto& [value, norm] : norms) {
    const auto conv = foldable.find(value);
    if (conv == foldable.end()) continue;
    folded.insert(norm->output(0));
    fold(initializers, names, *norm, *conv->second);
  }
  auto& nodes = *graph.mutable_node();
  int kept = 0;
  for (int n = 0; n < nodes.size(); ++n) {
    const bool is_folded =
        nodes[n].op_type() == "BatchNormalization" && folded.contains(nodes[n].output(0));
    if (!is_folded) nodes.SwapElements(kept++, n);
  }
  nodes.DeleteSubrange(kept, nodes.size() - kept);
}

}  // namespace aoe::quantize
