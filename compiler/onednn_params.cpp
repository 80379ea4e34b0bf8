// Building the parameters of oneDNN primitives.
#include "compiler/onednn_params.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "base/check.h"
#include "compiler/epilogue.h"
#include "compiler/roofline.h"
#include "runtime/isa.h"

namespace aoe::compiler {
namespace {

using nlohmann::json;
using reference::EpilogueStep;
using reference::Operand;

constexpr double kPrimitiveCallNs = 1500;  ///< oneDNN's own way from execute() to the kernel

Shape row_major_strides(const Shape& shape) {
  Shape strides(shape.size(), 1);
  for (std::size_t i = shape.size(); i-- > 1;) strides[i - 1] = strides[i] * shape[i];
  return strides;
}

std::size_t anchor_input_count(const Task& task) {
  return task.op.anchor_inputs < 0 ? task.inputs.size()
                                   : static_cast<std::size_t>(task.op.anchor_inputs);
}

/// The result of the step before step `index`.
bool is_previous(const Operand& operand, std::size_t index) {
  return index == 0
             ? operand.kind == Operand::Kind::kAnchor
             : operand.kind == Operand::Kind::kStep && operand.index == static_cast<int>(index) - 1;
}

bool same_operand(const Operand& a, const Operand& b) {
  return a == b;
}

/// x * sigmoid(x), written as two steps.
bool is_swish(const std::vector<EpilogueStep>& steps, std::size_t index) {
  if (steps[index].type != "Sigmoid" || index + 1 >= steps.size()) return false;
  const EpilogueStep& next = steps[index + 1];
  if (next.type != "Mul" || next.operands.size() != 2) return false;
  const bool is_first = is_previous(next.operands[0], index + 1);
  const Operand& product = next.operands[is_first ? 1 : 0];
  return (is_first || is_previous(next.operands[1], index + 1)) &&
         same_operand(product, steps[index].operands[0]);
}

/// Later steps may read nothing but the result just before them: post-ops are a chain.
bool reads_only_previous(const EpilogueStep& step, std::size_t index) {
  return std::all_of(step.operands.begin(), step.operands.end(), [&](const Operand& operand) {
    return operand.kind == Operand::Kind::kInput || is_previous(operand, index);
  });
}

const char* binary_algorithm(const std::string& type) {
  if (type == "Add") return "binary_add";
  if (type == "Sub") return "binary_sub";
  if (type == "Mul") return "binary_mul";
  if (type == "Div") return "binary_div";
  if (type == "Maximum") return "binary_max";
  if (type == "Minimum") return "binary_min";
  return nullptr;
}

bool is_commutative(const std::string& type) {
  return type != "Sub" && type != "Div";
}

}  // namespace

json onednn_tensor(const TensorDesc& desc, Format format, const Soc& soc) {
  json j = {{"dims", desc.shape}, {"dtype", "f32"}};
  if (format == Format::kNC1HWC0) {
    j["tag"] = soc.vector_lanes == 16 ? "aBcd16b" : "aBcd8b";
  } else if (format == Format::kNHWC) {
    j["tag"] = "acdb";
  } else {
    constexpr const char* kDense[] = {"a", "a", "ab", "abc", "abcd", "abcde"};
    AOE_CHECK(desc.shape.size() <= 5, "oneDNN tensors have at most 5 dimensions here");
    if (desc.shape.empty()) j["dims"] = Shape{1};
    j["tag"] = kDense[desc.shape.size()];
  }
  return j;
}

json onednn_strided(const Shape& dims, const Shape& strides) {
  return {{"dims", dims}, {"dtype", "f32"}, {"strides", strides}};
}

Result<void> supports_onednn(const Task& task, const Soc& soc) {
  const std::string isa = soc.isa == Isa::kAvx512 ? "avx512" : "avx2";
  if (isa != runtime::best_host_isa())
    return Unexpected("code for " + isa +
                      " is wanted, oneDNN picks for this machine: " + runtime::best_host_isa());
  if (!task.is_static()) return Unexpected("shapes are not static");
  if (task.outputs.size() != 1)
    return Unexpected(std::to_string(task.outputs.size()) + " outputs, needs 1");
  const auto check = [](const TensorDesc& desc) -> Result<void> {
    if (desc.dtype != DataType::kFloat) return Unexpected(to_string(desc) + ", needs float32");
    if (desc.shape.size() > 5) return Unexpected(to_string(desc) + ", at most 5 dimensions");
    if (element_count(desc.shape) == 0) return Unexpected("empty tensor " + to_string(desc));
    return {};
  };
  for (const TaskInput& input : task.inputs)
    if (input.is_present() && !input.constant)
      if (Result<void> checked = check(input.desc); !checked) return checked;
  return check(task.out());
}

OneDnnDraft::OneDnnDraft(const Task& task, FormatChoice format, const Soc& soc,
                         const std::string& primitive)
    : task_(task), format_(std::move(format)), soc_(soc), params_{{"primitive", primitive}} {
}

std::size_t OneDnnDraft::buffer_of_input(std::size_t i) const {
  return static_cast<std::size_t>(
      std::count_if(task_.inputs.begin(), task_.inputs.begin() + static_cast<std::ptrdiff_t>(i),
                    [](const TaskInput& each) { return each.is_present() && !each.constant; }));
}

void OneDnnDraft::input(const std::string& argument, std::size_t i) {
  AOE_CHECK(!task_.inputs[i].constant, "constants are packed");
  params_[argument] = onednn_tensor(task_.in(i), format_.inputs[i], soc_);
  args_[argument] = buffer_of_input(i);
}

void OneDnnDraft::output(const std::string& argument) {
  params_[argument] = onednn_tensor(task_.out(), format_.outputs[0], soc_);
  args_[argument] = buffer_of_input(task_.inputs.size());
}

void OneDnnDraft::constant(const std::string& argument, PackedConstant packed) {
  constants_.push_back({argument, std::move(packed)});
}

void OneDnnDraft::plain_constant(const std::string& argument, std::size_t i) {
  const ConstantPtr value = task_.inputs[i].constant;
  constant(argument, {value->size_bytes(), [value](void* destination) {
                        std::memcpy(destination, value->data(), value->size_bytes());
                      }});
}

void OneDnnDraft::weights(std::size_t i, const Shape& dims, const json& source) {
  params_["weights"] = {{"dims", dims}, {"dtype", "f32"}, {"tag", "any"}};
  weights_ = Weights{task_.inputs[i].constant, source};
}

void OneDnnDraft::post_op(const std::string& algorithm, double alpha, double beta) {
  params_["post_ops"].push_back(
      {{"kind", "eltwise"}, {"algorithm", algorithm}, {"alpha", alpha}, {"beta", beta}});
}

bool OneDnnDraft::add_unary(const EpilogueStep& step) {
  const std::string& type = step.type;
  if (type == "Relu") return post_op("eltwise_relu", 0, 0), true;
  if (type == "LeakyRelu")
    return post_op("eltwise_relu", step.attrs.get_float("alpha", 0.01f), 0), true;
  if (type == "Elu") return post_op("eltwise_elu", step.attrs.get_float("alpha", 1.0f), 0), true;
  if (type == "Sigmoid") return post_op("eltwise_logistic", 0, 0), true;
  if (type == "Tanh") return post_op("eltwise_tanh", 0, 0), true;
  if (type == "HardSwish") return post_op("eltwise_hardswish", 0, 0), true;
  if (type == "Abs") return post_op("eltwise_abs", 0, 0), true;
  if (type == "Sqrt") return post_op("eltwise_sqrt", 0, 0), true;
  if (type == "Exp") return post_op("eltwise_exp", 0, 0), true;
  if (type == "Gelu") {
    const bool is_tanh = step.attrs.get_string("approximate", "none") == "tanh";
    return post_op(is_tanh ? "eltwise_gelu_tanh" : "eltwise_gelu_erf", 0, 0), true;
  }
  return false;
}

bool OneDnnDraft::is_residual(std::size_t input) const {
  return !task_.inputs[input].constant && task_.in(input).shape == task_.out().shape &&
         format_.inputs[input] == format_.outputs[0];
}

Result<void> OneDnnDraft::add_binary(const EpilogueStep& step, std::size_t input, bool in_place) {
  const char* algorithm = binary_algorithm(step.type);
  if (algorithm == nullptr) return Unexpected("no post-op for " + step.type);
  const bool is_first = !params_.contains("post_ops");
  if (in_place && is_first && step.type == "Add" && is_residual(input)) {
    params_["post_ops"].push_back({{"kind", "sum"}});
    params_["residual"] = buffer_of_input(input);
    residual_ = static_cast<int>(input);
    return {};
  }
  TensorDesc operand = task_.in(input);
  operand.shape.insert(operand.shape.begin(), task_.out().shape.size() - operand.shape.size(), 1);
  const std::string argument = "post_op" + std::to_string(params_["post_ops"].size());
  params_["post_ops"].push_back({{"kind", "binary"},
                                 {"algorithm", algorithm},
                                 {"src", onednn_tensor(operand, format_.inputs[input], soc_)}});
  if (task_.inputs[input].constant) {
    plain_constant(argument, input);
  } else {
    args_[argument] = buffer_of_input(input);
  }
  return {};
}

Result<void> OneDnnDraft::add_epilogue(bool in_place) {
  const std::vector<EpilogueStep>& steps = task_.op.epilogue;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const EpilogueStep& step = steps[i];
    if (is_swish(steps, i)) {
      post_op("eltwise_swish", 1, 0);
      ++i;
      continue;
    }
    if (!reads_only_previous(step, i))
      return Unexpected("the epilogue is no chain at " + step.type);
    if (step.type == "ClipByValue") {
      const auto bound = [&](std::size_t at, const char* attribute,
                             float fallback) -> std::optional<float> {
        if (at >= step.operands.size()) return step.attrs.get_float(attribute, fallback);
        const TaskInput& value = task_.inputs[static_cast<std::size_t>(step.operands[at].index)];
        return value.is_present() ? scalar_constant(value) : fallback;
      };
      const auto low = bound(1, "min", std::numeric_limits<float>::lowest());
      const auto high = bound(2, "max", std::numeric_limits<float>::max());
      if (!low || !high) return Unexpected("bounds of ClipByValue are not constant");
      post_op("eltwise_clip", *low, *high);
      continue;
    }
    if (step.operands.size() == 1) {
      if (!add_unary(step)) return Unexpected("no post-op for " + step.type);
      continue;
    }
    if (step.operands.size() != 2) return Unexpected("no post-op for " + step.type);
    const bool is_first = is_previous(step.operands[0], i);
    const Operand& other = step.operands[is_first ? 1 : 0];
    if (other.kind != Operand::Kind::kInput) return Unexpected("the epilogue is no chain");
    if (!is_first && !is_commutative(step.type))
      return Unexpected(step.type + " of an operand and the result");
    const auto input = static_cast<std::size_t>(other.index);
    if (task_.in(input).dtype != DataType::kFloat ||
        task_.in(input).shape.size() > task_.out().shape.size())
      return Unexpected("epilogue operand " + to_string(task_.in(input)));
    if (Result<void> added = add_binary(step, input, in_place); !added) return added;
  }
  return {};
}

Result<runtime::OneDnnChoice> OneDnnDraft::probe() const {
  Result<runtime::OneDnnChoice> choice = runtime::probe(params_, soc_.threads);
  if (choice && choice->implementation.starts_with("ref"))
    return Unexpected("oneDNN has only reference code for it (" + choice->implementation + ")");
  return choice;
}

Kernel OneDnnDraft::finish() {
  const Result<runtime::OneDnnChoice> choice = probe();
  AOE_CHECK(choice.has_value(), "finish() of a draft that oneDNN refuses");
  if (weights_) {
    params_["weights"] = choice->weights;
    constant(
        "weights",
        {choice->weights_bytes, [weights = *weights_, to = choice->weights](void* destination) {
           runtime::repack(weights.source, weights.constant->data(), to, destination);
         }});
  }
  Kernel kernel{.kind = KernelKind::kOneDnn};
  std::size_t buffer = buffer_of_input(task_.inputs.size()) + task_.outputs.size();
  for (Constant& each : constants_) {
    args_[each.argument] = buffer++;
    kernel.constants.push_back(std::move(each.packed));
  }
  if (choice->scratchpad_bytes > 0) {
    args_["scratchpad"] = buffer;
    params_["scratchpad_bytes"] = choice->scratchpad_bytes;
    kernel.workspace_bytes = choice->scratchpad_bytes;
  }
  params_["args"] = std::move(args_);
  params_["onednn"] = runtime::onednn_version();
  kernel.params = std::move(params_);
  kernel.overwrites_input = residual_;
  return kernel;
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

double onednn_estimate_ns(const Task& task, const Soc& soc, double flops, double efficiency) {
  return launch_ns(soc) + kPrimitiveCallNs +
         std::max(compute_ns(soc, flops, efficiency), memory_ns(soc, bytes_moved(task)));
}

}  // namespace aoe::compiler
