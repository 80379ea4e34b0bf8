// How much arithmetic a call is: what its operator says, or what is usual for the kind.
#include "reference/op.h"

namespace aoe::reference {
namespace {

double elements(const TensorDesc& desc) {
  return desc.dtype == DataType::kUndefined ? 0.0 : static_cast<double>(element_count(desc.shape));
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
      return window_elements(cost.attrs) * cost.output_elements();
    case OpKind::kNormalisation:
      return kOfNormalisation * cost.output_elements();
    default:
      return cost.output_elements();
  }
}

}  // namespace

double CostContext::input_elements(std::size_t i) const {
  return i < inputs.size() ? elements(inputs[i]) : 0.0;
}

double CostContext::output_elements() const {
  return elements(outputs[0]);
}

double flops(const OpCall& call, std::span<const TensorDesc> inputs,
             std::span<const TensorDesc> outputs) {
  const CostContext cost{call.attrs, inputs, outputs};
  const double steps = static_cast<double>(call.epilogue.size()) * cost.output_elements();
  const OpDef* def = ops().find(call.type);
  if (def == nullptr) return steps;
  return steps + (def->flops ? def->flops(cost) : usual_flops(def->kind, cost));
}

}  // namespace aoe::reference
