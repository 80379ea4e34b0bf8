// A task's epilogue as post-ops of a oneDNN primitive.
#include <algorithm>
#include <limits>
#include <map>
#include <numeric>

#include "compiler/emit/epilogue.h"
#include "compiler/onednn/onednn_params.h"

namespace aoe::compiler {
namespace {

using reference::BodyStep;
using reference::OpCall;

bool is_input(const Task& task, int value) {
  return value < static_cast<int>(task.inputs.size());
}

/// What step `index` of the body finds made by the step before, the anchor being step 0.
int previous(const Task& task, std::size_t index) {
  return task.op.body->value_of(index - 1);
}

/// x * sigmoid(x), written as two steps.
bool is_swish(const Task& task, std::size_t index) {
  const std::vector<BodyStep>& steps = task.op.body->steps;
  if (steps[index].call.type != "Sigmoid" || index + 1 >= steps.size()) return false;
  const int x = previous(task, index), sigmoid = previous(task, index + 1);
  const std::vector<int>& factors = steps[index + 1].operands;
  return steps[index].operands[0] == x && steps[index + 1].call.type == "Mul" &&
         (factors == std::vector{sigmoid, x} || factors == std::vector{x, sigmoid});
}

/// Post-ops are a chain: a step reads the result just before it, and beside it nothing but inputs.
bool continues_chain(const Task& task, std::size_t index) {
  const std::vector<int>& operands = task.op.body->steps[index].operands;
  const int before = previous(task, index);
  return std::ranges::count(operands, before) > 0 && std::ranges::all_of(operands, [&](int value) {
           return value == before || is_input(task, value);
         });
}

/// oneDNN's names of two operands' functions.
struct Binary {
  const char* algorithm;
  bool is_commutative = true;
};

const Binary* binary_of(const std::string& type) {
  static const std::map<std::string_view, Binary> table = {
      {"Add", {"binary_add"}},        {"Sub", {"binary_sub", false}}, {"Mul", {"binary_mul"}},
      {"Div", {"binary_div", false}}, {"Maximum", {"binary_max"}},    {"Minimum", {"binary_min"}}};
  const auto found = table.find(type);
  return found == table.end() ? nullptr : &found->second;
}

/// Those of one operand, with the attribute that is alpha, if any is, and what it is without.
struct Unary {
  const char* algorithm;
  const char* alpha = nullptr;
  float fallback = 0;
};

const Unary* unary_of(const std::string& type) {
  static const std::map<std::string_view, Unary> table = {
      {"Relu", {"eltwise_relu"}},
      {"LeakyRelu", {"eltwise_relu", "alpha", 0.01f}},
      {"Elu", {"eltwise_elu", "alpha", 1.0f}},
      {"Sigmoid", {"eltwise_logistic"}},
      {"Tanh", {"eltwise_tanh"}},
      {"HardSwish", {"eltwise_hardswish"}},
      {"Abs", {"eltwise_abs"}},
      {"Sqrt", {"eltwise_sqrt"}},
      {"Exp", {"eltwise_exp"}}};
  const auto found = table.find(type);
  return found == table.end() ? nullptr : &found->second;
}

}  // namespace

void OneDnnDraft::post_op(const std::string& algorithm, double alpha, double beta) {
  params()["post_ops"].push_back(
      {{"kind", "eltwise"}, {"algorithm", algorithm}, {"alpha", alpha}, {"beta", beta}});
}

bool OneDnnDraft::add_unary(const OpCall& step) {
  if (const Unary* unary = unary_of(step.type)) {
    const float alpha =
        unary->alpha == nullptr ? 0 : step.attrs.get_float(unary->alpha, unary->fallback);
    return post_op(unary->algorithm, alpha, 0), true;
  }
  if (step.type == "HardSigmoid") {
    post_op("eltwise_linear", step.attrs.get_float("alpha", 0.2f),
            step.attrs.get_float("beta", 0.5f));
    return post_op("eltwise_clip", 0, 1), true;
  }
  if (step.type == "Gelu") {
    const bool is_tanh = step.attrs.get_string("approximate", "none") == "tanh";
    return post_op(is_tanh ? "eltwise_gelu_tanh" : "eltwise_gelu_erf", 0, 0), true;
  }
  return false;
}

bool OneDnnDraft::is_residual(std::size_t input) const {
  return !task_.inputs[input].constant && task_.in(input).shape == task_.out().shape &&
         format_.inputs[input] == format_.outputs[0];
}

/// An operand's shape with as many dimensions as the stage's output: ones in front, or rows of several leading
/// dimensions counted as one.
Shape OneDnnDraft::operand_dims(std::size_t input) const {
  Shape dims = task_.in(input).shape;
  dims.insert(dims.begin(), task_.out().shape.size() - dims.size(), 1);
  const std::size_t rank = stages_.back().output.size();
  if (rank >= dims.size()) return dims;
  const auto kept = dims.end() - static_cast<std::ptrdiff_t>(rank - 1);
  const std::int64_t rows =
      std::accumulate(dims.begin(), kept, std::int64_t{1}, std::multiplies<>());
  Shape folded(kept, dims.end());
  folded.insert(folded.begin(), rows);
  return folded;
}

void OneDnnDraft::binary_post_op(const char* algorithm, std::size_t input, float factor) {
  TensorDesc operand = task_.in(input);
  operand.shape = operand_dims(input);
  const std::string argument = "post_op" + std::to_string(params()["post_ops"].size());
  params()["post_ops"].push_back({{"kind", "binary"},
                                  {"algorithm", algorithm},
                                  {"src", onednn_tensor(operand, format_.inputs[input], soc_)}});
  if (task_.inputs[input].constant) {
    plain_constant(argument, input, factor);
  } else {
    stage().args[argument] = buffer_of_input(input);
  }
}

void OneDnnDraft::post_op_add(std::size_t i, float factor) {
  binary_post_op("binary_add", i, factor);
}

/// Other broadcasts oneDNN 2.6 accepts too, and computes some of them wrongly: per pixel, per image and channel.
bool OneDnnDraft::may_broadcast(const Shape& dims) const {
  const Stage& stage = stages_.back();
  if (dims == stage.output) return true;
  const std::size_t channel = stage.params.at("primitive") == "matmul" ? dims.size() - 1 : 1;
  for (std::size_t d = 0; d < dims.size(); ++d)
    if (dims[d] != 1 && d != channel) return false;
  return true;
}

Result<void> OneDnnDraft::add_binary(const OpCall& step, std::size_t input, bool in_place) {
  const Binary* binary = binary_of(step.type);
  if (binary == nullptr) return Unexpected("no post-op for " + step.type);
  if (task_.in(input).dtype != DataType::kFloat ||
      task_.in(input).shape.size() > task_.out().shape.size())
    return Unexpected("epilogue operand " + to_string(task_.in(input)));
  if (!may_broadcast(operand_dims(input)))
    return Unexpected("epilogue operand " + aoe::to_string(operand_dims(input)) +
                      " is neither a whole output, nor per channel, nor one number");
  const bool is_first = !params().contains("post_ops");
  if (in_place && is_first && step.type == "Add" && is_residual(input)) {
    params()["post_ops"].push_back({{"kind", "sum"}});
    residual_ = static_cast<int>(input);
    return {};
  }
  binary_post_op(binary->algorithm, input, 1);
  return {};
}

Result<void> OneDnnDraft::add_clip(const BodyStep& step) {
  const auto bound = [&](std::size_t at, const char* attribute,
                         float fallback) -> std::optional<float> {
    if (at >= step.operands.size()) return step.call.attrs.get_float(attribute, fallback);
    if (!is_input(task_, step.operands[at])) return {};
    const TaskInput& value = task_.inputs[static_cast<std::size_t>(step.operands[at])];
    if (!value.is_present()) return fallback;
    const std::optional<double> constant = scalar_constant(value);
    if (!constant) return {};
    return static_cast<float>(*constant);
  };
  const auto low = bound(1, "min", std::numeric_limits<float>::lowest());
  const auto high = bound(2, "max", std::numeric_limits<float>::max());
  if (!low || !high) return Unexpected("bounds of ClipByValue are not constant");
  post_op("eltwise_clip", *low, *high);
  return {};
}

Result<void> OneDnnDraft::add_step(std::size_t index, bool in_place) {
  const BodyStep& step = task_.op.body->steps[index];
  const OpCall& call = step.call;
  if (call.type == "ClipByValue") return add_clip(step);
  if (step.operands.size() == 1 && add_unary(call)) return {};
  if (step.operands.size() != 2) return Unexpected("no post-op for " + call.type);
  const bool is_first = step.operands[0] == previous(task_, index);
  const int other = step.operands[is_first ? 1 : 0];
  if (!is_input(task_, other)) return Unexpected(call.type + " of the result and itself");
  const Binary* binary = binary_of(call.type);
  if (!is_first && binary != nullptr && !binary->is_commutative)
    return Unexpected(call.type + " of an operand and the result");
  return add_binary(call, static_cast<std::size_t>(other), in_place);
}

Result<void> OneDnnDraft::add_epilogue(bool in_place) {
  if (task_.op.body == nullptr) return {};
  const std::vector<BodyStep>& steps = task_.op.body->steps;
  for (std::size_t i = 1; i < steps.size(); ++i) {
    if (is_swish(task_, i)) {
      post_op("eltwise_swish", 1, 0);
      ++i;
      continue;
    }
    if (!continues_chain(task_, i))
      return Unexpected("the epilogue is no chain at " + steps[i].call.type);
    if (Result<void> added = add_step(i, in_place); !added) return added;
  }
  return {};
}

bool has_residual(const Task& task) {
  const std::span<const BodyStep> steps = reference::epilogue(task.op);
  if (steps.empty() || steps.front().call.type != "Add") return false;
  return std::ranges::any_of(steps.front().operands, [&](int value) {
    if (!is_input(task, value)) return false;
    const TaskInput& input = task.inputs[static_cast<std::size_t>(value)];
    return !input.constant && input.desc.shape == task.out().shape;
  });
}

}  // namespace aoe::compiler
