// The operator registry, and infer() and run() of calls with an epilogue.
#include "reference/op.h"

#include <algorithm>
#include <optional>

#include "all_ops.inc"
#include "base/check.h"
#include "base/error.h"
#include "base/size.h"
#include "reference/fail.h"
#include "reference/op_rules.h"

namespace aoe::reference {
namespace {

constexpr std::string_view kFusedElementwise = "FusedElementwise", kFusedChain = "FusedChain";

const OpDef& def_of(const std::string& type) {
  const OpDef* def = ops().find(type);
  if (def == nullptr) fail_model("operator '" + type + "' is unknown");
  return *def;
}

/// Adds the operator's name to errors that carry no place yet.
template <typename F>
auto naming(const std::string& type, F&& f) {
  try {
    return f();
  } catch (const Error& error) {
    if (!error.where().empty()) throw;
    throw Error(error.code(), error.what(), type, error.advice());
  }
}

std::vector<TensorDesc> infer_op(const std::string& type, int version, const Attrs& attrs,
                                 std::span<const Tensor> inputs, std::size_t output_count) {
  const OpDef& def = def_of(type);
  return naming(type, [&] {
    for (std::size_t i = 0; i < def.min_inputs; ++i) {
      if (i >= inputs.size() || !inputs[i].is_present())
        fail_model("needs " + std::to_string(def.min_inputs) + " inputs, but input " +
                   std::to_string(i) + " is missing");
    }
    check_op_rules(type, attrs, inputs);
    std::vector<TensorDesc> outputs = def.infer({attrs, version, inputs, output_count});
    if (outputs.size() < output_count)
      fail_model("has " + std::to_string(outputs.size()) + " outputs, the model asks for " +
                 std::to_string(output_count));
    outputs.resize(output_count);
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      const std::string output = "output " + std::to_string(i) + " of " + type;
      if (size_bytes(outputs[i].dtype) == 0)
        throw Error(ExitCode::kModel,
                    "is " + std::string(name(outputs[i].dtype)) + ", which is not supported",
                    output);
      check_size(outputs[i], output);
    }
    return outputs;
  });
}

void run_op(const std::string& type, int version, const Attrs& attrs,
            std::span<const Tensor> inputs, std::span<const Tensor> outputs) {
  const OpDef& def = def_of(type);
  naming(type, [&] { def.compute({attrs, version, inputs, outputs}); });
}

bool has_anchor(const OpCall& call) {
  return !is_fused_type(call.type);
}

std::span<const Tensor> anchor_inputs(const OpCall& call, std::span<const Tensor> inputs) {
  if (call.anchor_inputs < 0) return inputs;
  const auto count = static_cast<std::size_t>(call.anchor_inputs);
  AOE_CHECK(count <= inputs.size(), call.type + " has fewer inputs than its anchor");
  return inputs.first(count);
}

std::vector<Tensor> operands_of(const EpilogueStep& step, std::span<const Tensor> inputs,
                                const std::optional<Tensor>& anchor,
                                std::span<const Tensor> steps) {
  std::vector<Tensor> operands;
  operands.reserve(step.operands.size());
  for (const Operand& operand : step.operands) {
    const auto index = static_cast<std::size_t>(operand.index);
    switch (operand.kind) {
      case Operand::Kind::kAnchor:
        AOE_CHECK(anchor.has_value(), step.type + " reads an anchor that is not there");
        operands.push_back(*anchor);
        break;
      case Operand::Kind::kInput:
        AOE_CHECK(index < inputs.size(), step.type + " reads an input that is not there");
        operands.push_back(inputs[index]);
        break;
      case Operand::Kind::kStep:
        AOE_CHECK(index < steps.size(), step.type + " reads a later step");
        operands.push_back(steps[index]);
        break;
    }
  }
  return operands;
}

/// The results of all steps in order; place(step, operands, result) gives each result its memory
/// and values.
template <typename Place>
std::vector<Tensor> walk_epilogue(const OpCall& call, std::span<const Tensor> inputs,
                                  const std::optional<Tensor>& anchor, Place&& place) {
  std::vector<Tensor> steps;
  for (const EpilogueStep& step : call.epilogue) {
    AOE_CHECK(call.type == kFusedChain || def_of(step.type).formula,
              step.type + " stands in an epilogue");
    const std::vector<Tensor> operands = operands_of(step, inputs, anchor, steps);
    steps.push_back({infer_op(step.type, step.version, step.attrs, operands, 1).front(), nullptr});
    place(step, operands, steps.back());
  }
  return steps;
}

ComputeFn compute_of(const FormulaFn& formula) {
  return [formula](const OpContext& ctx) {
    std::vector<FormulaContext::Operand> operands;
    for (const Tensor& input : ctx.inputs) operands.push_back({input.desc.dtype, {}});
    const Tensor& output = ctx.outputs[0];
    evaluate(formula({ctx.attrs, ctx.version, operands, output.desc.dtype}), ctx.inputs, output);
  };
}

}  // namespace

void OpRegistry::add(OpDef def) {
  AOE_CHECK(def.kind != OpKind::kNone, def.type + " is of no kind");
  AOE_CHECK((def.kind == OpKind::kElementwise) == bool(def.formula),
            def.type + " lacks its formula");
  if (def.formula && !def.compute) def.compute = compute_of(def.formula);
  AOE_CHECK(def.infer && def.compute && !def.versions.empty(), def.type + " is incomplete");
  AOE_CHECK(find(def.type) == nullptr, def.type + " is defined twice");
  AOE_CHECK(def.onnx_type.empty() || find_onnx(def.onnx_domain, def.onnx_type) == nullptr,
            def.onnx_type + " is defined twice");
  const auto place = std::ranges::lower_bound(defs_, def.type, {}, &OpDef::type);
  defs_.insert(place, std::move(def));
}

const OpDef* OpRegistry::find(std::string_view ir_type) const {
  const auto found = std::ranges::lower_bound(defs_, ir_type, {}, &OpDef::type);
  return found != defs_.end() && found->type == ir_type ? &*found : nullptr;
}

const OpDef* OpRegistry::find_onnx(std::string_view domain, std::string_view onnx_type) const {
  const auto found = std::ranges::find_if(defs_, [&](const OpDef& def) {
    return !def.onnx_type.empty() && def.onnx_type == onnx_type && def.onnx_domain == domain;
  });
  return found != defs_.end() ? &*found : nullptr;
}

std::vector<const OpDef*> OpRegistry::all() const {
  std::vector<const OpDef*> result;
  for (const OpDef& def : defs_) result.push_back(&def);
  return result;
}

const OpRegistry& ops() {
  static const OpRegistry registry = [] {
    OpRegistry filled;
    register_all_ops(filled);
    return filled;
  }();
  return registry;
}

bool is_kind(std::string_view ir_type, OpKind kind) {
  const OpDef* def = ops().find(ir_type);
  return def != nullptr && def->kind == kind;
}

bool is_elementwise(std::string_view ir_type) {
  return ir_type == kFusedElementwise || is_kind(ir_type, OpKind::kElementwise);
}

bool is_pooling(std::string_view ir_type) {
  const OpDef* def = ops().find(ir_type);
  return def != nullptr && def->window && def->epilogue == Epilogue::kNone;
}

bool is_quantised(std::string_view ir_type) {
  return epilogue_of(ir_type) == Epilogue::kBytes;
}

Epilogue epilogue_of(std::string_view ir_type) {
  const OpDef* def = ops().find(ir_type);
  return def == nullptr ? Epilogue::kNone : def->epilogue;
}

std::optional<Window> window_of(std::string_view ir_type, const Attrs& attrs, const Shape& input,
                                const Shape& weight) {
  const OpDef* def = ops().find(ir_type);
  if (def == nullptr || !def->window) return {};
  return def->window(attrs, input, weight);
}

Result<Formula> vector_form(std::string_view ir_type, const FormulaContext& context) {
  const OpDef* def = ops().find(ir_type);
  const std::string type(ir_type);
  if (def == nullptr || !def->formula) return Unexpected(type + " is not elementwise");
  for (std::size_t i = 0; i < context.operands.size(); ++i) {
    const bool is_parameter =
        def->first_parameter >= 0 && static_cast<int>(i) >= def->first_parameter;
    if (is_parameter && context.has_operand(i) && !context.operands[i].number)
      return Unexpected(type + " whose parameter " + std::to_string(i) +
                        " is not one known number");
  }
  Formula formula = def->formula(context);
  if (const Result<void> checked = is_vectorisable(formula); !checked)
    return Unexpected(type + ": " + checked.error());
  return formula;
}

std::vector<TensorDesc> infer(const OpCall& call, std::span<const Tensor> inputs,
                              std::size_t output_count) {
  if (call.epilogue.empty())
    return infer_op(call.type, call.version, call.attrs, inputs, output_count);
  AOE_CHECK(output_count >= 1, call.type + " with an epilogue but without output");
  std::vector<TensorDesc> outputs(1);
  std::optional<Tensor> anchor;
  if (has_anchor(call)) {
    outputs =
        infer_op(call.type, call.version, call.attrs, anchor_inputs(call, inputs), output_count);
    anchor = Tensor{outputs.front(), nullptr};
  }
  outputs.front() = walk_epilogue(call, inputs, anchor, [](const auto&...) {}).back().desc;
  return outputs;
}

void run(const OpCall& call, std::span<const Tensor> inputs, std::span<const Tensor> outputs) {
  if (call.epilogue.empty()) return run_op(call.type, call.version, call.attrs, inputs, outputs);

  std::vector<Constant> temporaries;
  temporaries.reserve(call.epilogue.size() + 1);
  const auto allocate = [&](const TensorDesc& desc) {
    Constant& memory = temporaries.emplace_back(desc);
    return Tensor{desc, memory.mutable_data()};
  };

  std::optional<Tensor> anchor;
  if (has_anchor(call)) {
    const auto own_inputs = anchor_inputs(call, inputs);
    const auto descs = infer_op(call.type, call.version, call.attrs, own_inputs, outputs.size());
    std::vector<Tensor> anchor_outputs(outputs.begin(), outputs.end());
    anchor_outputs.front() = allocate(descs.front());
    run_op(call.type, call.version, call.attrs, own_inputs, anchor_outputs);
    anchor = anchor_outputs.front();
  }
  walk_epilogue(call, inputs, anchor,
                [&](const EpilogueStep& step, const auto& operands, Tensor& result) {
                  const bool is_last = &step == &call.epilogue.back();
                  result = is_last ? outputs.front() : allocate(result.desc);
                  run_op(step.type, step.version, step.attrs, operands, std::span(&result, 1));
                });
}

bool is_fused_type(std::string_view type) {
  return type == kFusedElementwise || type == kFusedChain;
}

std::vector<std::string> op_types(const OpCall& call) {
  std::vector<std::string> types;
  if (has_anchor(call)) types.push_back(call.type);
  for (const EpilogueStep& step : call.epilogue) types.push_back(step.type);
  return types;
}

}  // namespace aoe::reference
