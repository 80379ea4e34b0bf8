// Two tensors to bool with broadcasting: Equal, Less, And, ...
#include "reference/elementwise.h"

namespace aoe::reference {

void register_comparison(OpRegistry& registry) {
  using Make = Formula (*)(const Formula&, const Formula&);
  const auto add = [&](const char* type, const char* onnx_type, OpSignature signature, Make make) {
    registry.add(binary(
        type, onnx_type, std::move(signature),
        [make](const FormulaContext&, const Formula& a, const Formula& b) { return make(a, b); },
        infer_truth));
  };
  using F = const Formula&;
  add("Equal", "Equal", {"a1 a1"}, [](F a, F b) { return a == b; });
  add("Greater", "Greater", {"n1 n1"}, [](F a, F b) { return b < a; });
  add("GreaterEqual", "GreaterOrEqual", {"n1 n1"}, [](F a, F b) { return b <= a; });
  add("Less", "Less", {"n1 n1"}, [](F a, F b) { return a < b; });
  add("LessEqual", "LessOrEqual", {"n1 n1"}, [](F a, F b) { return a <= b; });
  add("LogicalAnd", "And", {"b b"}, [](F a, F b) { return a & b; });
  add("LogicalOr", "Or", {"b b"}, [](F a, F b) { return a | b; });
  add("LogicalXor", "Xor", {"b b"}, [](F a, F b) { return a ^ b; });
}

}  // namespace aoe::reference
