// ApplyMomentum, ApplyAdam, ApplyAdagrad: one step of training, for any number of tensors at once.
// Inputs: learning rate, update count, then all tensors, all gradients, and each kind of state in turn; outputs: all
// tensors, then each kind of state.
#include <cmath>

#include "reference/fail.h"
#include "reference/op.h"
#include "reference/tensors/axes.h"
#include "reference/tensors/widen.h"

namespace aoe::reference {
namespace {

constexpr std::size_t kScalarInputs = 2;  ///< learning rate and update count

/// What one element of a tensor becomes; states are updated in place.
struct Element {
  double x = 0, gradient = 0, state = 0, second_state = 0;
};

/// Reads attributes once and returns the update of an element.
using UpdateOf =
    std::function<std::function<void(Element&)>(const Attrs&, double rate, std::int64_t count)>;

std::size_t tensor_count(std::size_t inputs, std::size_t states) {
  if (inputs < kScalarInputs || (inputs - kScalarInputs) % (2 + states) != 0) {
    fail_model(std::to_string(inputs) + " inputs do not make tensors with gradients and states");
  }
  return (inputs - kScalarInputs) / (2 + states);
}

OpDef optimizer(std::string type, std::string onnx_type, std::string attributes, std::size_t states,
                UpdateOf update_of) {
  OpDef def{.type = std::move(type),
            .onnx_type = std::move(onnx_type),
            .onnx_domain = "ai.onnx.preview.training",
            .signature = {"f:0-1 l:0-1 f*", std::move(attributes)},
            .kind = OpKind::kOther};
  def.infer = [states](const InferContext& context) {
    const std::size_t count = tensor_count(context.inputs.size(), states);
    for (std::size_t i = count; i < (2 + states) * count; ++i)
      check_same_shape(context.shape(kScalarInputs + i), context.shape(kScalarInputs + i % count),
                       "input " + std::to_string(kScalarInputs + i));
    std::vector<TensorDesc> outputs;
    for (std::size_t i = 0; i < (1 + states) * count; ++i) {
      const std::size_t input =
          kScalarInputs + (i < count ? i : i + count);  // behind tensors: gradients
      outputs.push_back({.dtype = context.dtype(input), .shape = context.shape(input)});
    }
    return outputs;
  };
  def.compute = [states, update_of = std::move(update_of)](const OpContext& context) {
    const std::size_t count = tensor_count(context.inputs.size(), states);
    const auto update =
        update_of(context.attrs, to_double(context.inputs[0]), to_int64(context.inputs[1]));
    for (std::size_t i = 0; i < count; ++i) {
      const auto part = [&](std::size_t kind) {
        return to_doubles(context.inputs[kScalarInputs + kind * count + i]);
      };
      auto x = part(0), state = part(2);
      const auto gradient = part(1);
      auto second_state = states > 1 ? part(3) : std::vector<double>(x.size());
      for (std::size_t k = 0; k < x.size(); ++k) {
        Element element{x[k], gradient[k], state[k], second_state[k]};
        update(element);
        x[k] = element.x, state[k] = element.state, second_state[k] = element.second_state;
      }
      const auto write = [&](std::size_t kind, const std::vector<double>& values) {
        if (context.has_output(kind * count + i))
          from_doubles(values, context.outputs[kind * count + i]);
      };
      write(0, x);
      write(1, state);
      if (states > 1) write(2, second_state);
    }
  };
  def.min_inputs = kScalarInputs;
  return def;
}

std::function<void(Element&)> momentum(const Attrs& attrs, double rate, std::int64_t count) {
  const double norm = attrs.get_float("norm_coefficient", 0), alpha = attrs.get_float("alpha", 0);
  const double beta =
      count > 0 ? attrs.get_float("beta", 0) : 1;  // the first gradient counts in full
  const std::string mode = attrs.get_string("mode", "standard");
  if (mode != "standard" && mode != "nesterov") fail_model("mode \"" + mode + "\" is unknown");
  return [=, is_nesterov = mode == "nesterov"](Element& e) {
    const double gradient = norm * e.x + e.gradient;
    e.state = alpha * e.state + beta * gradient;
    e.x -= rate * (is_nesterov ? gradient + alpha * e.state : e.state);
  };
}

std::function<void(Element&)> adam(const Attrs& attrs, double rate, std::int64_t count) {
  const double alpha = attrs.get_float("alpha", 0.9F), beta = attrs.get_float("beta", 0.999F);
  const double epsilon = attrs.get_float("epsilon", 1e-6F);  // the default that ONNX documents
  const double norm = attrs.get_float("norm_coefficient", 0);
  const double norm_post = attrs.get_float("norm_coefficient_post", 0);
  const auto t = static_cast<double>(count);
  if (count > 0) rate *= std::sqrt(1 - std::pow(beta, t)) / (1 - std::pow(alpha, t));
  return [=](Element& e) {
    const double gradient = norm * e.x + e.gradient;
    e.state = alpha * e.state + (1 - alpha) * gradient;
    e.second_state = beta * e.second_state + (1 - beta) * gradient * gradient;
    e.x = (1 - norm_post) * (e.x - rate * e.state / (std::sqrt(e.second_state) + epsilon));
  };
}

std::function<void(Element&)> adagrad(const Attrs& attrs, double rate, std::int64_t count) {
  const double epsilon = attrs.get_float("epsilon", 1e-6F);
  const double norm = attrs.get_float("norm_coefficient", 0);
  rate /= 1 + static_cast<double>(count) * attrs.get_float("decay_factor", 0);
  return [=](Element& e) {
    const double gradient = norm * e.x + e.gradient;
    e.state += gradient * gradient;
    e.x -= rate * gradient / (std::sqrt(e.state) + epsilon);
  };
}

}  // namespace

void register_optimizers(OpRegistry& registry) {
  registry.add(optimizer("ApplyMomentum", "Momentum",
                         "!alpha=float !beta=float !mode=standard|nesterov !norm_coefficient=float",
                         1, momentum));
  registry.add(optimizer(
      "ApplyAdam", "Adam",
      "alpha=float beta=float epsilon=float norm_coefficient=float norm_coefficient_post=float", 2,
      adam));
  registry.add(optimizer("ApplyAdagrad", "Adagrad",
                         "decay_factor=float epsilon=float norm_coefficient=float", 1, adagrad));
}

}  // namespace aoe::reference
