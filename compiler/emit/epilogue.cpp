// See epilogue.h.
#include "compiler/emit/epilogue.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <span>
#include <vector>

#include "base/check.h"
#include "compiler/emit/formula_lanes.h"
#include "reference/tensors/widen.h"

namespace aoe::compiler {
namespace {

using reference::BodyStep;
using reference::Formula;
using reference::FormulaContext;
using reference::OpCall;

/// The call, or a body of it alone.
OpCall in_a_body(const Task& task) {
  if (task.op.body != nullptr) return task.op;
  BodyStep step{task.op, std::vector<int>(task.inputs.size())};
  std::iota(step.operands.begin(), step.operands.end(), 0);
  return reference::fused_call({.inputs = static_cast<int>(task.inputs.size()), .steps = {step}});
}

/// The steps behind the anchor with what each reads and gives; an elementwise op is a step without an anchor.
class Steps {
 public:
  explicit Steps(const Task& task)
      : task_(task), call_(in_a_body(task)), steps_(reference::epilogue(call_)) {
    for (const TaskInput& input : task.inputs) descs_.push_back(input.desc);
    if (has_anchor()) descs_.push_back({.dtype = DataType::kFloat, .shape = task.out().shape});
  }

  std::span<const BodyStep> list() const { return steps_; }
  bool has_anchor() const { return steps_.size() < call_.body->steps.size(); }
  const TensorDesc& desc_of(int value) const { return descs_.at(static_cast<std::size_t>(value)); }
  /// The task's input that a value is; of other values none.
  const TaskInput* input_of(int value) const {
    const auto i = static_cast<std::size_t>(value);
    return i < task_.inputs.size() ? &task_.inputs[i] : nullptr;
  }
  /// What was made last, first of all by the anchor.
  int last() const { return static_cast<int>(descs_.size()) - 1; }

  Result<Formula> next(const BodyStep& step) {
    std::vector<FormulaContext::Operand> operands;
    std::vector<Tensor> inputs;
    for (const int value : step.operands) {
      const TaskInput* input = input_of(value);
      inputs.push_back({desc_of(value), nullptr});
      // The task's shape: an Impl may see a constant as another Impl's task has it, a row of a matrix. One number is a
      // scalar wherever it comes from: of bounds operators ask that. But the first operand gives results of some
      // (PRelu) their shape, and others must stretch to it.
      if (input != nullptr && input->constant) {
        inputs.back().data = input->constant->view().data;
        const std::size_t rank = inputs.size() == 1 ? task_.out().shape.size() : 0;
        if (element_count(inputs.back().desc.shape) == 1) inputs.back().desc.shape.assign(rank, 1);
      }
      operands.push_back({inputs.back().desc.dtype, {}});
      if (input != nullptr) operands.back().number = scalar_constant(*input);
    }
    const OpCall& call = step.call;
    descs_.push_back(reference::infer(call, inputs, 1).front());
    return reference::vector_form(call.type,
                                  {call.attrs, call.version, operands, descs_.back().dtype});
  }

 private:
  const Task& task_;
  OpCall call_;
  std::span<const BodyStep> steps_;
  std::vector<TensorDesc> descs_;  ///< by value
};

/// Behind an anchor everything is float32, but for bytes that Quantize writes and Dequantize reads.
Result<void> check_types(const Steps& steps, const BodyStep& step) {
  std::vector<int> values = step.operands;
  values.push_back(steps.last());
  for (const int value : values) {
    const TensorDesc& desc = steps.desc_of(value);
    if (desc.dtype != DataType::kUndefined && !is_epilogue_type(desc.dtype, EpilogueTypes::kBytes))
      return Unexpected(step.call.type + " of " + to_string(desc) +
                        ", needs float32, int8 or uint8");
  }
  return {};
}

bool is_function(reference::Fn fn) {
  using reference::Fn;
  switch (fn) {
    case Fn::kPow:
    case Fn::kExpm1:
    case Fn::kLog1p:
#define REAL_FUNCTION(each, function) case Fn::each:
#include "base/real_functions.inc"
#undef REAL_FUNCTION
      return fn != Fn::kSqrt;  // an instruction
    default:
      return false;
  }
}

bool has_functions(const Formula& formula) {
  return is_function(formula->fn) ||
         std::ranges::any_of(formula->args, [](const Formula& arg) { return has_functions(arg); });
}

class StepEmitter {
 public:
  StepEmitter(Builder& builder, const Task& task, int lanes, const LoadLanes& load)
      : builder_(builder), steps_(task), lanes_(lanes), load_(load) {}

  Lanes run(const std::optional<Vec>& anchor) {
    if (anchor) values_[steps_.last()] = Lanes::reals(DataType::kFloat, *anchor);
    for (const BodyStep& step : steps_.list()) {
      const Result<Formula> formula = steps_.next(step);
      AOE_CHECK(formula.has_value(), formula ? "" : formula.error());
      std::vector<std::optional<Lanes>> operands;
      for (const int value : step.operands) operands.push_back(value_of(value));
      Lanes made = emit_formula(*formula, operands, lanes_);
      const DataType dtype = steps_.desc_of(steps_.last()).dtype;
      const bool is_last = &step == &steps_.list().back();
      if (!is_last && reference::compute_type(dtype) != dtype)
        made = Lanes::reals(DataType::kFloat, round_to(made.as_reals(), dtype));
      values_[steps_.last()] = made.kept(builder_);
    }
    return *values_.at(steps_.last());
  }

 private:
  const std::optional<Lanes>& value_of(int value) {
    const auto [place, is_new] = values_.try_emplace(value);
    if (is_new) place->second = loaded(value, *steps_.input_of(value));
    return place->second;
  }

  /// Absent inputs have no value; numbers stand in the formula already.
  std::optional<Lanes> loaded(int i, const TaskInput& input) {
    if (!input.is_present() || scalar_constant(input)) return {};
    return Lanes::loaded(builder_, reference::compute_type(input.desc.dtype),
                         [this, i](loopnest::Type type) { return load_(i, type); });
  }

  Builder& builder_;
  Steps steps_;
  int lanes_;
  const LoadLanes& load_;
  std::map<int, std::optional<Lanes>> values_;
};

}  // namespace

std::optional<double> scalar_constant(const TaskInput& input) {
  if (!input.constant || element_count(input.desc.shape) != 1) return {};
  const double number = reference::to_double(input.constant->view());
  constexpr double kExact = 0x1p53;  // beyond, integers are read from memory
  if (is_integer(input.desc.dtype) && (number >= kExact || number <= -kExact)) return {};
  return number;
}

bool is_epilogue_type(DataType dtype, EpilogueTypes types) {
  return dtype == DataType::kFloat || (types == EpilogueTypes::kBytes && is_byte(dtype));
}

Result<void> supports_epilogue(const Task& task) {
  Steps steps(task);
  for (const BodyStep& step : steps.list()) {
    const Result<Formula> formula = steps.next(step);
    if (!formula) return Unexpected(formula.error());
    if (!steps.has_anchor()) continue;
    if (Result<void> checked = check_types(steps, step); !checked) return checked;
  }
  return {};
}

bool has_functions(const Task& task) {
  Steps steps(task);
  return std::ranges::any_of(steps.list(), [&](const BodyStep& step) {
    const Result<Formula> formula = steps.next(step);
    return formula && has_functions(*formula);
  });
}

Vec emit_epilogue(Builder& builder, const Task& task, Vec anchor, const LoadInput& load) {
  if (reference::epilogue(task.op).empty()) return anchor;
  const Vec kept = builder.get(builder.local(anchor));
  const LoadLanes load_floats = [&](int input, loopnest::Type type) {
    AOE_CHECK(type == loopnest::Type::kFloat, "integer lanes behind an anchor");
    return load(input);
  };
  return StepEmitter(builder, task, anchor.lanes(), load_floats).run(kept).stored();
}

Vec emit_elementwise(Builder& builder, const Task& task, int lanes, const LoadLanes& load) {
  AOE_CHECK(reference::is_elementwise(task.op), task.op.type + " is not elementwise");
  return StepEmitter(builder, task, lanes, load).run({}).stored();
}

}  // namespace aoe::compiler
