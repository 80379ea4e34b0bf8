// See epilogue.h.
#include "compiler/epilogue.h"

#include <map>
#include <vector>

#include "base/check.h"
#include "compiler/formula_lanes.h"
#include "reference/widen.h"

namespace aoe::compiler {
namespace {

using loopnest::Builder;
using loopnest::Vec;
using reference::EpilogueStep;
using reference::Formula;
using reference::FormulaContext;
using reference::Operand;

bool has_anchor(const Task& task) {
  return !reference::is_fused_type(task.op.type);
}

/// The steps of a task with what each reads and gives.
class Steps {
 public:
  explicit Steps(const Task& task) : task_(task) {}

  /// The operand's description, and its value where it is one known number.
  TensorDesc desc_of(const Operand& operand) const {
    const auto index = static_cast<std::size_t>(operand.index);
    switch (operand.kind) {
      case Operand::Kind::kAnchor:
        return {.dtype = DataType::kFloat, .shape = task_.out().shape};
      case Operand::Kind::kInput:
        return task_.in(index);
      case Operand::Kind::kStep:
        return results_.at(index);
    }
    AOE_CHECK(false, "an operand of no kind");
  }

  /// Of the next step.
  Result<Formula> next() {
    const EpilogueStep& step = task_.op.epilogue[results_.size()];
    std::vector<FormulaContext::Operand> operands;
    std::vector<Tensor> inputs;
    for (const Operand& operand : step.operands) {
      const bool is_input = operand.kind == Operand::Kind::kInput;
      const TaskInput* input =
          is_input ? &task_.inputs[static_cast<std::size_t>(operand.index)] : nullptr;
      inputs.push_back({desc_of(operand), nullptr});
      if (input != nullptr && input->constant) inputs.back() = input->constant->view();
      operands.push_back({inputs.back().desc.dtype, {}});
      if (input != nullptr) operands.back().number = scalar_constant(*input);
    }
    const reference::OpCall call{.type = step.type, .version = step.version, .attrs = step.attrs};
    results_.push_back(reference::infer(call, inputs, 1).front());
    return reference::vector_form(step.type,
                                  {step.attrs, step.version, operands, results_.back().dtype});
  }

  const TensorDesc& result() const { return results_.back(); }

 private:
  const Task& task_;
  std::vector<TensorDesc> results_;
};

/// Behind an anchor everything is float32, but for bytes that Quantize writes and Dequantize reads.
Result<void> check_types(const Steps& steps, const EpilogueStep& step) {
  const auto check = [&](const TensorDesc& desc) -> Result<void> {
    if (desc.dtype == DataType::kUndefined || is_epilogue_type(desc.dtype, EpilogueTypes::kBytes))
      return {};
    return Unexpected(step.type + " of " + to_string(desc) + ", needs float32, int8 or uint8");
  };
  for (const Operand& operand : step.operands)
    if (Result<void> checked = check(steps.desc_of(operand)); !checked) return checked;
  return check(steps.result());
}

class StepEmitter {
 public:
  StepEmitter(Builder& builder, const Task& task, int lanes, const LoadLanes& load)
      : builder_(builder), task_(task), lanes_(lanes), load_(load) {}

  Lanes run(const std::optional<Vec>& anchor) {
    if (anchor) anchor_ = Lanes::floats(DataType::kFloat, *anchor);
    Steps steps(task_);
    for (const EpilogueStep& step : task_.op.epilogue) {
      const Result<Formula> formula = steps.next();
      AOE_CHECK(formula.has_value(), formula ? "" : formula.error());
      std::vector<std::optional<Lanes>> operands;
      for (const Operand& operand : step.operands) operands.push_back(operand_value(operand));
      Lanes value = emit_formula(*formula, operands, lanes_);
      const DataType dtype = steps.result().dtype;
      const bool is_last = &step == &task_.op.epilogue.back();
      if (!is_last && reference::compute_type(dtype) != dtype)
        value = Lanes::floats(DataType::kFloat, round_to(value.as_floats(), dtype));
      values_.push_back(value.kept(builder_));
    }
    return values_.back();
  }

 private:
  std::optional<Lanes> operand_value(const Operand& operand) {
    switch (operand.kind) {
      case Operand::Kind::kAnchor:
        return anchor_;
      case Operand::Kind::kInput:
        return input_value(operand.index);
      case Operand::Kind::kStep:
        return values_.at(static_cast<std::size_t>(operand.index));
    }
    AOE_CHECK(false, "an operand of no kind");
  }

  /// Absent inputs have none; numbers stand in the formula already.
  std::optional<Lanes> input_value(int i) {
    const TaskInput& input = task_.inputs[static_cast<std::size_t>(i)];
    if (!input.is_present() || scalar_constant(input)) return {};
    const auto [place, is_new] = inputs_.try_emplace(i);
    if (is_new)
      place->second = Lanes::loaded(builder_, reference::compute_type(input.desc.dtype),
                                    [this, i](loopnest::Type type) { return load_(i, type); });
    return place->second;
  }

  Builder& builder_;
  const Task& task_;
  int lanes_;
  const LoadLanes& load_;
  std::optional<Lanes> anchor_;
  std::map<int, std::optional<Lanes>> inputs_;
  std::vector<Lanes> values_;
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
  const bool is_byte = dtype == DataType::kInt8 || dtype == DataType::kUint8;
  return dtype == DataType::kFloat || (types == EpilogueTypes::kBytes && is_byte);
}

Result<void> supports_epilogue(const Task& task) {
  Steps steps(task);
  for (const EpilogueStep& step : task.op.epilogue) {
    if (const Result<Formula> formula = steps.next(); !formula) return Unexpected(formula.error());
    if (!has_anchor(task)) continue;
    if (Result<void> checked = check_types(steps, step); !checked) return checked;
  }
  return {};
}

Vec emit_epilogue(Builder& builder, const Task& task, Vec anchor, const LoadInput& load) {
  if (task.op.epilogue.empty()) return anchor;
  const Vec kept = builder.get(builder.local(anchor));
  const LoadLanes load_floats = [&](int input, loopnest::Type type) {
    AOE_CHECK(type == loopnest::Type::kFloat, "integer lanes behind an anchor");
    return load(input);
  };
  return StepEmitter(builder, task, anchor.lanes(), load_floats).run(kept).as_floats();
}

Vec emit_elementwise(Builder& builder, const Task& task, int lanes, const LoadLanes& load) {
  AOE_CHECK(!task.op.epilogue.empty(), task.op.type + " has no steps");
  return StepEmitter(builder, task, lanes, load).run({}).stored();
}

}  // namespace aoe::compiler
