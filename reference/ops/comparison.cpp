// Two tensors to bool with broadcasting: Equal, Less, And, ...
#include "reference/elementwise.h"

namespace aoe::reference {
namespace {

template <typename Types, typename F>
void add_comparison(OpRegistry& registry, std::string type, std::string onnx_type, F f) {
  OpDef def{.type = std::move(type), .onnx_type = std::move(onnx_type)};
  def.infer = [](const InferContext& ctx) {
    std::vector<TensorDesc> outputs = infer_broadcast(ctx);
    outputs.front().dtype = DataType::kBool;
    return outputs;
  };
  def.compute = [f](const OpContext& ctx) {
    visit_type<Types>(ctx.inputs[0].desc.dtype, [&]<typename T>() {
      apply_binary<T, T, bool>(ctx.inputs[0], ctx.inputs[1], ctx.outputs[0], f);
    });
  };
  def.min_inputs = 2;
  registry.add(std::move(def));
}

}  // namespace

void register_comparison(OpRegistry& registry) {
  using Bool = TypeList<bool>;
  add_comparison<AllTypes>(registry, "Equal", "Equal", [](auto a, auto b) { return a == b; });
  add_comparison<NumericTypes>(registry, "Greater", "Greater",
                               [](auto a, auto b) { return a > b; });
  add_comparison<NumericTypes>(registry, "GreaterEqual", "GreaterOrEqual",
                               [](auto a, auto b) { return a >= b; });
  add_comparison<NumericTypes>(registry, "Less", "Less", [](auto a, auto b) { return a < b; });
  add_comparison<NumericTypes>(registry, "LessEqual", "LessOrEqual",
                               [](auto a, auto b) { return a <= b; });
  add_comparison<Bool>(registry, "LogicalAnd", "And", [](bool a, bool b) { return a && b; });
  add_comparison<Bool>(registry, "LogicalOr", "Or", [](bool a, bool b) { return a || b; });
  add_comparison<Bool>(registry, "LogicalXor", "Xor", [](bool a, bool b) { return a != b; });
}

}  // namespace aoe::reference
