// If, Loop, Scan: nodes that run their bodies. The importer settles their outputs and the runtime runs the bodies
// (runtime/control_step.h); here they only have their names.
#include "reference/fail.h"
#include "reference/op.h"

namespace aoe::reference {
namespace {

OpDef control(const char* type) {
  return {.type = type,
          .onnx_type = type,
          .kind = OpKind::kControl,
          .infer = [](const InferContext&) -> std::vector<TensorDesc> { throw Undetermined{}; },
          .compute =
              [](const OpContext&) {
                fail_model("runs its bodies, which the reference does not have");
              },
          .flops = [](const CostContext&) { return 0.0; },
          .is_deterministic = false,
          .min_inputs = 0};
}

}  // namespace

void register_control_flow(OpRegistry& registry) {
  for (const char* type : {"If", "Loop", "Scan"}) registry.add(control(type));
}

}  // namespace aoe::reference
