// Folding scales and shifts of channels into weights.
#include "graph/analysis/channel_affine.h"

#include <algorithm>

#include "graph/rewrite.h"

namespace aoe::graph {
namespace {

/// Which output channel the elements of the weights contribute to: runs of `length` elements are of one channel each.
class WeightRuns {
 public:
  WeightRuns(const Node& node, const Shape& weights) : count_(element_count(weights)) {
    const bool is_transposed = node.op.type == "Gemm" && node.op.attrs.get_int("transB", 0) != 0;
    if (node.op.type == "Conv2DTranspose") {  // in channels x out channels of a group x kernel
      per_group_ = weights[1];
      runs_of_group_ = weights[0] / node.op.attrs.get_int("group", 1) * per_group_;
      length_ = count_ / (weights[0] * per_group_);
    } else if (node.op.type == "Conv2D" || is_transposed) {
      per_group_ = runs_of_group_ = weights[0];
      length_ = count_ / weights[0];
    } else {
      per_group_ = weights.back();
      runs_of_group_ = count_;  // rows of all channels, one after the other
    }
  }

  std::int64_t length() const { return length_; }
  std::int64_t count() const { return count_ / length_; }
  std::int64_t channel(std::int64_t run) const {
    return run / runs_of_group_ * per_group_ + run % per_group_;
  }

 private:
  std::int64_t count_, length_ = 1;
  std::int64_t per_group_ = 1;      ///< channels
  std::int64_t runs_of_group_ = 1;  ///< that come before the next group's
};

/// The bias as the op adds it now: Gemm's C with beta, zeros when there is none; nothing when it
/// varies along rows.
std::optional<std::vector<double>> bias_of(const Graph& graph, const Node& node,
                                           const Channels& channels) {
  if (!has_input(node, 2)) return std::vector<double>(channels.count, 0.0);
  if (!is_float_constant(graph, node, 2)) return std::nullopt;
  const Shape& shape = shape_of(graph, node.outputs[0]);
  const Constant& constant = *constant_input(graph, node, 2);
  auto bias =
      node.op.type == "Gemm" ? per_channel(constant, shape, channels) : to_doubles(constant);
  if (bias && node.op.type == "Gemm")
    for (double& value : *bias) value *= static_cast<double>(node.op.attrs.get_float("beta", 1));
  return bias;
}

void scale_weights(Graph& graph, NodeId anchor, const std::vector<double>& scale) {
  const Node& node = graph.nodes[anchor];
  const ValueId unscaled = node.inputs[1];
  const Value& old = graph.values[unscaled];
  const WeightRuns runs(node, old.desc.shape);
  const auto scaled = std::make_shared<Constant>(old.desc);
  const float* from = old.constant->view().as<float>();
  float* to = scaled->view().as<float>();
  for (std::int64_t run = 0; run < runs.count(); ++run) {
    const double factor = scale[runs.channel(run)];
    for (std::int64_t i = 0; i < runs.length(); ++i)
      *to++ = static_cast<float>(static_cast<double>(*from++) * factor);
  }
  const ValueId id = add_constant(graph, node.name + "_weight", scaled);
  graph.edit(anchor)->inputs[1] = id;
  // Now, not when the pass is over: a model's weights would be there twice.
  if (graph.consumers(unscaled).empty() &&
      std::ranges::find(graph.outputs, unscaled) == graph.outputs.end())
    graph.values[unscaled].constant.reset();
}

void set_bias(Graph& graph, NodeId anchor, const std::vector<double>& bias) {
  const ValueId id = add_floats(graph, graph.nodes[anchor].name + "_bias",
                                {static_cast<std::int64_t>(bias.size())}, bias);
  const NodeEdit node = graph.edit(anchor);
  node->inputs.resize(3, kNone);
  node->inputs[2] = id;
  if (node->op.type == "Gemm") node->op.attrs.erase("beta");
}

/// `anchor` now computes what `follower` did.
void take_over(Graph& graph, NodeId anchor, NodeId follower) {
  const ValueId output = graph.nodes[follower].outputs[0];
  graph.remove_node(follower);
  const NodeEdit node = graph.edit(anchor);
  graph.values[node->outputs[0]].producer = kNone;
  node->outputs[0] = output;
  graph.values[output].producer = anchor;
  const std::vector<std::string>& origins = graph.nodes[follower].origins;
  node->origins.insert(node->origins.end(), origins.begin(), origins.end());
}

}  // namespace

std::optional<Channels> foldable_channels(const Graph& graph, const Node& node) {
  if (node.is_dead || node.outputs.size() != 1) return std::nullopt;
  const std::string& type = node.op.type;
  const bool is_convolution = type == "Conv2D" || type == "Conv2DTranspose";
  if (!is_convolution && type != "MatMulV2" && type != "Gemm") return std::nullopt;
  const Shape& shape = shape_of(graph, node.outputs[0]);
  if (!is_float_constant(graph, node, 1) || shape.size() < 2) return std::nullopt;
  if (element_count(shape_of(graph, node.inputs[1])) == 0) return std::nullopt;
  if (type == "MatMulV2" && shape_of(graph, node.inputs[1]).size() != 2) return std::nullopt;
  const std::size_t axis = is_convolution ? 1 : shape.size() - 1;
  if (shape[axis] == kUnknownDim) return std::nullopt;
  return Channels{axis, shape[axis]};
}

std::optional<std::vector<double>> per_channel(const Constant& constant, const Shape& shape,
                                               const Channels& channels) {
  const Shape& own = constant.desc().shape;
  if (constant.desc().dtype != DataType::kFloat || own.size() > shape.size()) return std::nullopt;
  const std::size_t missing =
      shape.size() - own.size();  // leading dimensions, as broadcasting adds them
  for (std::size_t d = 0; d < own.size(); ++d)
    if (own[d] != 1 && (d + missing != channels.axis || own[d] != channels.count))
      return std::nullopt;
  std::vector<double> values = to_doubles(constant);
  if (values.size() == 1) values.resize(channels.count, values[0]);
  return values;
}

bool fold_affine(Graph& graph, NodeId anchor, NodeId follower, const ChannelAffine& affine) {
  const auto channels = foldable_channels(graph, graph.nodes[anchor]);
  if (!channels) return false;
  const bool shifts = std::ranges::any_of(affine.shift, [](double v) { return v != 0; });
  const bool scales = std::ranges::any_of(affine.scale, [](double v) { return v != 1; });
  const bool has_bias_slot = graph.nodes[anchor].op.type != "MatMulV2";
  if (shifts && !has_bias_slot) return false;
  if (has_bias_slot && (shifts || has_input(graph.nodes[anchor], 2))) {
    auto bias = bias_of(graph, graph.nodes[anchor], *channels);
    if (!bias) return false;
    for (std::size_t c = 0; c < bias->size(); ++c)
      (*bias)[c] = (*bias)[c] * affine.scale[c] + affine.shift[c];
    set_bias(graph, anchor, *bias);
  }
  if (scales) scale_weights(graph, anchor, affine.scale);
  take_over(graph, anchor, follower);
  return true;
}

}  // namespace aoe::graph
