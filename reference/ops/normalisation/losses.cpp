// NLLLoss and SoftmaxCrossEntropyLoss: how far class scores are from the classes that should have won.
#include <algorithm>
#include <cmath>
#include <limits>

#include "reference/elements/typed.h"
#include "reference/fail.h"
#include "reference/op.h"
#include "reference/tensors/axes.h"
#include "reference/tensors/widen.h"

namespace aoe::reference {
namespace {

enum Input : std::size_t { kScores, kLabels, kWeights };

/// Scores are N x C x d1 x ..., labels N x d1 x ...
Shape loss_shape(const Attrs& attrs, const Shape& scores, const Shape& labels) {
  if (scores.size() < 2 || labels.size() + 1 != scores.size()) {
    fail_model("scores " + to_string(scores) + " with labels " + to_string(labels));
  }
  Shape needed = scores;
  needed.erase(needed.begin() + 1);
  check_same_shape(labels, needed, "the tensor of labels");
  const std::string reduction = attrs.get_string("reduction", "mean");
  if (reduction == "none") return labels;
  if (reduction != "mean" && reduction != "sum")
    fail_model("reduction \"" + reduction + "\" is unknown");
  return {};
}

/// Minus the weighted log probability of each label, reduced as the attribute says. log_probability(i): of element i.
template <typename LogProbability>
void write_loss(const OpContext& context, const LogProbability& log_probability) {
  const AxisView view = view_axis(context.inputs[kScores].desc.shape, 1);
  const auto labels = to_int64s(context.inputs[kLabels]);
  const auto weights = context.has_input(kWeights)
                           ? to_doubles(context.inputs[kWeights])
                           : std::vector<double>(static_cast<std::size_t>(view.dim), 1.0);
  const bool can_ignore = context.attrs.has("ignore_index");
  const std::int64_t ignored = context.attrs.get_int("ignore_index", 0);
  std::vector<double> losses(labels.size());
  double sum = 0, weight_sum = 0;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    const std::int64_t label = labels[i];
    if (can_ignore && label == ignored) continue;
    if (label < 0 || label >= view.dim) {
      fail_model("label " + std::to_string(label) + " of " + std::to_string(view.dim) + " classes");
    }
    const std::int64_t n = static_cast<std::int64_t>(i) / view.inner;
    const std::int64_t rest = static_cast<std::int64_t>(i) % view.inner;
    const double weight = weights.at(static_cast<std::size_t>(label));
    losses[i] = -weight * log_probability((n * view.dim + label) * view.inner + rest);
    sum += losses[i];
    weight_sum += weight;
  }
  const std::string reduction = context.attrs.get_string("reduction", "mean");
  if (reduction == "mean") losses = {sum / weight_sum};
  if (reduction == "sum") losses = {sum};
  from_doubles(losses, context.outputs[0]);
}

std::vector<TensorDesc> infer_nll(const InferContext& context) {
  if (context.has_input(kWeights) && context.shape(kScores).size() > 1)
    check_vector(context.shape(kWeights), context.shape(kScores)[1], "the weight of classes");
  return {{.dtype = context.dtype(kScores),
           .shape = loss_shape(context.attrs, context.shape(kScores), context.shape(kLabels))}};
}

void compute_nll(const OpContext& context) {
  const Tensor& scores = context.inputs[kScores];
  visit_type<FloatTypes>(scores.desc.dtype, [&]<typename T>() {
    write_loss(context, [&](std::int64_t i) { return convert<double>(scores.as<T>()[i]); });
  });
}

std::vector<TensorDesc> infer_cross_entropy(const InferContext& context) {
  return {infer_nll(context)[0],
          {.dtype = context.dtype(kScores), .shape = context.shape(kScores)}};
}

std::vector<double> log_softmax(const Tensor& scores) {
  const AxisView view = view_axis(scores.desc.shape, 1);
  auto values = to_doubles(scores);
  for (std::int64_t o = 0; o < view.outer; ++o) {
    for (std::int64_t i = 0; i < view.inner; ++i) {
      const auto at = [&](std::int64_t c) -> double& {
        return values[static_cast<std::size_t>((o * view.dim + c) * view.inner + i)];
      };
      double largest = -std::numeric_limits<double>::infinity(), sum = 0;
      for (std::int64_t c = 0; c < view.dim; ++c) largest = std::max(largest, at(c));
      for (std::int64_t c = 0; c < view.dim; ++c) sum += std::exp(at(c) - largest);
      for (std::int64_t c = 0; c < view.dim; ++c) at(c) -= largest + std::log(sum);
    }
  }
  return values;
}

void compute_cross_entropy(const OpContext& context) {
  const auto log_probabilities = log_softmax(context.inputs[kScores]);
  if (context.has_output(0))
    write_loss(context,
               [&](std::int64_t i) { return log_probabilities[static_cast<std::size_t>(i)]; });
  if (context.has_output(1)) from_doubles(log_probabilities, context.outputs[1]);
}

}  // namespace

void register_losses(OpRegistry& registry) {
  registry.add({.type = "NLLLoss",
                .onnx_type = "NegativeLogLikelihoodLoss",
                .versions = {12},
                .signature = {"f1:2+ x:1+ f1?:1", "ignore_index=long reduction=none|sum|mean"},
                .kind = OpKind::kReduction,
                .infer = infer_nll,
                .compute = compute_nll,
                .min_inputs = 2});
  registry.add({.type = "SoftmaxCrossEntropyLoss",
                .versions = {12},
                .signature = {"f1:2+ x:1+ f1?:1", "ignore_index=long reduction=none|sum|mean"},
                .kind = OpKind::kNormalisation,
                .infer = infer_cross_entropy,
                .compute = compute_cross_entropy,
                .min_inputs = 2});
}

}  // namespace aoe::reference
