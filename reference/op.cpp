// The operator registry, and infer() and run() of calls.
#include "reference/op.h"

#include <algorithm>
#include <optional>

#include "all_ops.inc"
#include "base/check.h"
#include "base/error.h"
#include "base/size.h"
#include "reference/fail.h"
#include "reference/gives_nothing.h"
#include "reference/op_rules.h"

namespace aoe::reference {
namespace {

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

void check_output(const std::string& type, std::size_t i, const TensorDesc& desc) {
  try {
    if (size_bytes(desc.dtype) == 0)
      fail_model("is " + std::string(name(desc.dtype)) + ", which is not supported");
    check_size(desc, "");
  } catch (const Error& error) {
    throw Error(error.code(), error.what(), "output " + std::to_string(i) + " of " + type);
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
    check_op_rules(type, version, attrs, inputs);
    std::vector<TensorDesc> outputs = def.infer({attrs, version, inputs, output_count});
    if (outputs.size() < output_count)
      fail_model("has " + std::to_string(outputs.size()) + " outputs, the model asks for " +
                 std::to_string(output_count));
    outputs.resize(output_count);
    for (std::size_t i = 0; i < outputs.size(); ++i) check_output(type, i, outputs[i]);
    return outputs;
  });
}

void run_op(const std::string& type, int version, const Attrs& attrs,
            std::span<const Tensor> inputs, std::span<const Tensor> outputs) {
  const OpDef& def = def_of(type);
  if (def.ends_runs || !gives_nothing(outputs))
    naming(type, [&] { def.compute({attrs, version, inputs, outputs}); });
}

}  // namespace

Formula formula_of(const OpDef& def, const OpContext& context) {
  std::vector<FormulaContext::Operand> operands;
  for (const Tensor& input : context.inputs) operands.push_back({input.desc.dtype, {}});
  return def.formula({context.attrs, context.version, operands, context.outputs[0].desc.dtype});
}

void OpRegistry::add(OpDef def) {
  AOE_CHECK(def.kind != OpKind::kNone, def.type + " is of no kind");
  AOE_CHECK((def.kind == OpKind::kElementwise) == bool(def.formula),
            def.type + " lacks its formula");
  if (def.formula && !def.compute) {
    def.is_all_formula = true;
    def.compute = [def](const OpContext& context) {
      evaluate(formula_of(def, context), context.inputs, context.outputs[0]);
    };
  }
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

std::size_t moved_inputs(std::string_view ir_type, std::size_t inputs) {
  const OpDef* def = ops().find(ir_type);
  return def == nullptr ? 0 : std::min(def->moved, inputs);
}

bool is_reshape(std::string_view ir_type) {
  const OpDef* def = ops().find(ir_type);
  return def != nullptr && def->is_reshape;
}

bool sums_products(std::string_view ir_type) {
  return is_kind(ir_type, OpKind::kProduct) || is_kind(ir_type, OpKind::kConvolution) ||
         is_kind(ir_type, OpKind::kRecurrence);
}

bool is_pooling(std::string_view ir_type) {
  const OpDef* def = ops().find(ir_type);
  return def != nullptr && def->window && def->kind == OpKind::kWindow;
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
  if (call.body == nullptr)
    return infer_op(call.type, call.version, call.attrs, inputs, output_count);
  AOE_CHECK(output_count == 1, "a body with " + std::to_string(output_count) + " outputs");
  std::vector<TensorDesc> result;
  walk(*call.body, inputs, [&](const BodyStep& step, std::span<const Tensor> operands) {
    result = infer(step.call, operands, 1);
    return Tensor{result.front(), nullptr};
  });
  return result;
}

void run(const OpCall& call, std::span<const Tensor> inputs, std::span<const Tensor> outputs) {
  if (call.body == nullptr) return run_op(call.type, call.version, call.attrs, inputs, outputs);
  AOE_CHECK(outputs.size() == 1, "a body with " + std::to_string(outputs.size()) + " outputs");
  std::vector<Constant> temporaries;
  temporaries.reserve(call.body->steps.size());
  walk(*call.body, inputs, [&](const BodyStep& step, std::span<const Tensor> operands) {
    Tensor result = outputs.front();
    if (&step != &call.body->steps.back()) {
      Constant& memory = temporaries.emplace_back(infer(step.call, operands, 1).front());
      result = {memory.desc(), memory.mutable_data()};
    }
    run(step.call, operands, std::span(&result, 1));
    return result;
  });
}

}  // namespace aoe::reference
