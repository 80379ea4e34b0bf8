// A task's epilogue as post-ops of a oneDNN primitive.
#include <algorithm>
#include <limits>
#include <map>
#include <numeric>

#include "compiler/epilogue.h"
#include "compiler/onednn/onednn_params.h"

namespace aoe::compiler {
namespace {

using reference::EpilogueStep;
using reference::Operand;

/// The result of the step before step `index`.
bool is_previous(const Operand& operand, std::size_t index) {
  return index == 0
             ? operand.kind == Operand::Kind::kAnchor
             : operand.kind == Operand::Kind::kStep && operand.index == static_cast<int>(index) - 1;
}

/// x * sigmoid(x), written as two steps.
bool is_swish(const std::vector<EpilogueStep>& steps, std::size_t index) {
  if (steps[index].type != "Sigmoid" || index + 1 >= steps.size()) return false;
  if (!is_previous(steps[index].operands[0], index)) return false;
  const EpilogueStep& next = steps[index + 1];
  if (next.type != "Mul" || next.operands.size() != 2) return false;
  const bool is_first = is_previous(next.operands[0], index + 1);
  const Operand& product = next.operands[is_first ? 1 : 0];
  return (is_first || is_previous(next.operands[1], index + 1)) &&
         product == steps[index].operands[0];
}

/// Post-ops are a chain: a step reads the result just before it, and beside it nothing but inputs.
bool continues_chain(const EpilogueStep& step, std::size_t index) {
  const auto reads_previous = [&](const Operand& operand) { return is_previous(operand, index); };
  return std::any_of(step.operands.begin(), step.operands.end(), reads_previous) &&
         std::all_of(step.operands.begin(), step.operands.end(), [&](const Operand& operand) {
           return operand.kind == Operand::Kind::kInput || reads_previous(operand);
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

bool OneDnnDraft::add_unary(const EpilogueStep& step) {
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

Result<void> OneDnnDraft::add_binary(const EpilogueStep& step, std::size_t input, bool in_place) {
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

Result<void> OneDnnDraft::add_clip(const EpilogueStep& step) {
  const auto bound = [&](std::size_t at, const char* attribute,
                         float fallback) -> std::optional<float> {
    if (at >= step.operands.size()) return step.attrs.get_float(attribute, fallback);
    if (step.operands[at].kind != Operand::Kind::kInput) return {};
    const TaskInput& value = task_.inputs[static_cast<std::size_t>(step.operands[at].index)];
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

Result<void> OneDnnDraft::add_step(const EpilogueStep& step, std::size_t index, bool in_place) {
  if (step.type == "ClipByValue") return add_clip(step);
  if (step.operands.size() == 1 && add_unary(step)) return {};
  if (step.operands.size() != 2) return Unexpected("no post-op for " + step.type);
  const bool is_first = is_previous(step.operands[0], index);
  const Operand& other = step.operands[is_first ? 1 : 0];
  if (other.kind != Operand::Kind::kInput)
    return Unexpected(step.type + " of the result and itself");
  const Binary* binary = binary_of(step.type);
  if (!is_first && binary != nullptr && !binary->is_commutative)
    return Unexpected(step.type + " of an operand and the result");
  return add_binary(step, static_cast<std::size_t>(other.index), in_place);
}

Result<void> OneDnnDraft::add_epilogue(bool in_place) {
  const std::vector<EpilogueStep>& steps = task_.op.epilogue;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    if (is_swish(steps, i)) {
      post_op("eltwise_swish", 1, 0);
      ++i;
      continue;
    }
    if (!continues_chain(steps[i], i))
      return Unexpected("the epilogue is no chain at " + steps[i].type);
    if (Result<void> added = add_step(steps[i], i, in_place); !added) return added;
  }
  return {};
}

bool has_residual(const Task& task) {
  if (task.op.epilogue.empty() || task.op.epilogue.front().type != "Add") return false;
  const auto& operands = task.op.epilogue.front().operands;
  return std::any_of(operands.begin(), operands.end(), [&](const Operand& operand) {
    if (operand.kind != Operand::Kind::kInput) return false;
    const TaskInput& input = task.inputs[static_cast<std::size_t>(operand.index)];
    return !input.constant && input.desc.shape == task.out().shape;
  });
}

}  // namespace aoe::compiler
