// The registry of kernels.
#include "native/kernel.h"

#include <algorithm>
#include <optional>

#include "all_kernels.inc"
#include "base/check.h"
#include "native/elements/typed_formula.h"

namespace aoe::native {

void KernelRegistry::add(Kernel kernel) {
  AOE_CHECK(kernel.supports && kernel.run, "the kernel of " + kernel.type + " is incomplete");
  AOE_CHECK(find(kernel.type) == nullptr, "two kernels of " + kernel.type);
  const auto place = std::ranges::lower_bound(kernels_, kernel.type, {}, &Kernel::type);
  kernels_.insert(place, std::move(kernel));
}

const Kernel* KernelRegistry::find(std::string_view type) const {
  const auto found = std::ranges::lower_bound(kernels_, type, {}, &Kernel::type);
  return found != kernels_.end() && found->type == type ? &*found : nullptr;
}

const KernelRegistry& kernels() {
  static const KernelRegistry registry = [] {
    KernelRegistry all;
    register_all_kernels(all);
    return all;
  }();
  return registry;
}

namespace {

bool has_vector_form(const Question& question) {
  std::vector<reference::FormulaContext::Operand> operands;
  for (const TensorDesc& input : question.inputs) operands.push_back({input.dtype, {}});
  return reference::vector_form(question.call.type, {question.call.attrs, question.call.version,
                                                     operands, question.inputs[0].dtype})
      .has_value();
}

struct ReadyFormula {
  reference::Formula formula;
  std::optional<TypedFormula> typed;
};

ReadyFormula ready_formula(const Run& run) {
  const reference::OpDef& def = *reference::ops().find(run.call.type);
  const reference::Formula formula =
      formula_of(def, {run.attrs, run.version, run.inputs, {&run.output(0), 1}});
  return {formula, TypedFormula::of(formula, run.inputs)};
}

/// Parts of the output for each thread: of every operator that is a formula.
void run_formula(const Run& run) {
  const Tensor& output = run.output(0);
  if (output.data == nullptr) return;
  const auto ready = run.made_of_call([&] { return ready_formula(run); });
  if (ready->typed) return ready->typed->evaluate(run.inputs, output, run.threads);
  constexpr double kElementNs = 2;
  run.threads.share(output.elements(), kElementNs, [&](std::int64_t begin, std::int64_t end) {
    reference::evaluate(ready->formula, run.inputs, output, begin, end);
  });
}

const Kernel& formula_kernel() {
  static const Kernel kernel = {
      .type = "", .supports = takes_all, .run = run_formula, .is_for_open_sizes = has_vector_form};
  return kernel;
}

const Kernel* find_kernel(const std::string& type) {
  if (const Kernel* kernel = kernels().find(type)) return kernel;
  const reference::OpDef* def = reference::ops().find(type);
  return def != nullptr && def->is_all_formula ? &formula_kernel() : nullptr;
}

}  // namespace

Result<const Kernel*> kernel_for(const Question& question) {
  const Kernel* kernel = find_kernel(question.call.type);
  if (kernel == nullptr) return Unexpected("no kernel of " + question.call.type);
  const reference::OpDef* def = reference::ops().find(question.call.type);
  for (std::size_t i = 0; def != nullptr && i < def->min_inputs; ++i)  // bodies have none
    if (!question.has_input(i)) return Unexpected("input " + std::to_string(i) + " is missing");
  const auto has_no_rank = [](const TensorDesc& desc) {
    return std::ranges::any_of(desc.shape, [](std::int64_t dim) { return dim < kUnknownDim; });
  };
  if (std::ranges::any_of(question.inputs, has_no_rank))
    return Unexpected("the rank of an input is known when it runs");
  if (Result<void> supported = kernel->supports(question); !supported)
    return Unexpected(supported.error());
  return kernel;
}

Result<void> takes_all(const Question&) {
  return {};
}

bool always(const Question&) {
  return true;
}

bool is_float32(const Question& question) {
  return question.inputs[0].dtype == DataType::kFloat;
}

bool is_flat_float32(const Question& question) {
  constexpr std::size_t kVolumeRank = 5;
  return is_float32(question) && question.inputs[0].shape.size() != kVolumeRank;
}

Result<void> takes_types(const Question& question, std::size_t i,
                         std::initializer_list<DataType> types) {
  if (!question.has_input(i)) return {};
  if (std::ranges::find(types, question.inputs[i].dtype) != types.end()) return {};
  return Unexpected("input " + std::to_string(i) + " is " + to_string(question.inputs[i]));
}

Result<void> takes_one_float_type(const Question& question) {
  if (auto taken = takes_types(question, 0, {DataType::kFloat, DataType::kDouble}); !taken)
    return taken;
  for (std::size_t i = 1; i < question.inputs.size(); ++i)
    if (auto taken = takes_types(question, i, {question.inputs[0].dtype}); !taken) return taken;
  return {};
}

std::function<Result<void>(const Question&)> takes_floats(std::size_t count) {
  return [count](const Question& question) -> Result<void> {
    for (std::size_t i = 0; i < count; ++i)
      if (auto taken = takes_types(question, i, {DataType::kFloat}); !taken) return taken;
    return {};
  };
}

}  // namespace aoe::native
