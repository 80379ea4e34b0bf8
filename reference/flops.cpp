// How much arithmetic and how much work of the reference a call is: what its operator says, or what is usual for the kind.
#include <algorithm>

#include "reference/op.h"

namespace aoe::reference {
namespace {

double elements(const TensorDesc& desc) {
  if (desc.dtype == DataType::kUndefined) return 0;
  return std::max(0.0, static_cast<double>(element_count(desc.shape)));
}

double window_elements(const Attrs& attrs) {
  double window = 1;
  for (const std::int64_t extent : attrs.get_ints("kernel_shape"))
    window *= static_cast<double>(extent);
  return window;
}

double usual_flops(OpKind kind, const CostContext& cost) {
  constexpr double kOfNormalisation = 8;
  switch (kind) {
    case OpKind::kMove:
      return 0;
    case OpKind::kReduction:
      return cost.input_elements(0);
    case OpKind::kWindow:
    case OpKind::kConvolution:
      return window_elements(cost.attrs) * cost.output_elements();
    case OpKind::kNormalisation:
      return kOfNormalisation * cost.output_elements();
    default:
      return cost.output_elements();
  }
}

using CostFn = double (*)(const OpCall&, std::span<const TensorDesc>, std::span<const TensorDesc>);

double sum_of_steps(const Body& body, std::span<const TensorDesc> inputs, CostFn cost) {
  std::vector<Tensor> tensors;
  for (const TensorDesc& input : inputs) tensors.push_back({input, nullptr});
  double sum = 0;
  walk(body, tensors, [&](const BodyStep& step, std::span<const Tensor> operands) {
    std::vector<TensorDesc> descs;
    for (const Tensor& operand : operands) descs.push_back(operand.desc);
    const std::vector<TensorDesc> made = infer(step.call, operands, 1);
    sum += cost(step.call, descs, made);
    return Tensor{made.front(), nullptr};
  });
  return sum;
}

}  // namespace

double CostContext::input_elements(std::size_t i) const {
  return i < inputs.size() ? elements(inputs[i]) : 0.0;
}

double CostContext::output_elements() const {
  return outputs.empty() ? 0.0 : elements(outputs[0]);
}

double CostContext::pairs() const {
  double product = 1;
  for (std::size_t i = 0; i < 3; ++i) product *= std::max(1.0, input_elements(i));
  return product;
}

double flops(const OpCall& call, std::span<const TensorDesc> inputs,
             std::span<const TensorDesc> outputs) {
  if (is_chain(call)) return sum_of_steps(*call.body, inputs, flops);
  const CostContext cost{anchor(call).attrs, inputs, outputs};
  const double behind = static_cast<double>(epilogue(call).size()) * cost.output_elements();
  const OpDef* def = anchor_def(call);
  if (def == nullptr) return behind;
  return behind + (def->flops ? def->flops(cost) : usual_flops(def->kind, cost));
}

double work(const OpCall& call, std::span<const TensorDesc> inputs,
            std::span<const TensorDesc> outputs) {
  if (is_chain(call)) return sum_of_steps(*call.body, inputs, work);
  const CostContext cost{anchor(call).attrs, inputs, outputs};
  double steps = static_cast<double>(epilogue(call).size()) * cost.output_elements();
  for (const TensorDesc& input : inputs) steps += elements(input);
  for (const TensorDesc& output : outputs) steps += elements(output);
  const OpDef* def = anchor_def(call);
  if (def == nullptr) return steps;
  if (def->work) return steps + def->work(cost);
  return steps + (def->flops ? def->flops(cost) / 2 : usual_flops(def->kind, cost));
}

}  // namespace aoe::reference
