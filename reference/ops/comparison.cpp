// Two tensors to bool with broadcasting: Equal, Less, And, ...
#include "reference/elementwise.h"

namespace aoe::reference {

void register_comparison(OpRegistry& registry) {
  using Make = Formula (*)(const Formula&, const Formula&);
  const auto add = [&](const char* type, const char* onnx_type, Make make) {
    registry.add(binary(
        type, onnx_type,
        [make](const FormulaContext&, const Formula& a, const Formula& b) { return make(a, b); },
        infer_truth));
  };
  using F = const Formula&;
  add("Equal", "Equal", [](F a, F b) { return a == b; });
  add("Greater", "Greater", [](F a, F b) { return b < a; });
  add("GreaterEqual", "GreaterOrEqual", [](F a, F b) { return b <= a; });
  add("Less", "Less", [](F a, F b) { return a < b; });
  add("LessEqual", "LessOrEqual", [](F a, F b) { return a <= b; });
  add("LogicalAnd", "And", [](F a, F b) { return a & b; });
  add("LogicalOr", "Or", [](F a, F b) { return a | b; });
  add("LogicalXor", "Xor", [](F a, F b) { return a ^ b; });
}

}  // namespace aoe::reference
