// From one tensor to bool: Not, IsNaN, IsInf.
#include <cmath>

#include "reference/elementwise.h"

namespace aoe::reference {
namespace {

/// `make(attrs)` returns the test of one element.
template <typename Types, typename Make>
OpDef predicate(std::string type, std::string onnx_type, Make make) {
  OpDef def = activation<Types>(std::move(type), std::move(onnx_type), make);
  def.infer = [](const InferContext& ctx) -> std::vector<TensorDesc> {
    return {{.dtype = DataType::kBool, .shape = ctx.shape(0)}};
  };
  def.compute = [make](const OpContext& ctx) {
    visit_type<Types>(ctx.inputs[0].desc.dtype, [&]<typename T>() {
      const auto test = make(ctx.attrs);
      const T* x = ctx.inputs[0].as<T>();
      bool* y = ctx.outputs[0].as<bool>();
      const std::int64_t count = ctx.outputs[0].elements();
      for (std::int64_t i = 0; i < count; ++i) y[i] = test(static_cast<ComputeType<T>>(x[i]));
    });
  };
  def.is_elementwise = false;  // the type changes
  return def;
}

}  // namespace

void register_predicate(OpRegistry& registry) {
  registry.add(predicate<TypeList<bool>>("LogicalNot", "Not",
                                         [](const Attrs&) { return [](bool x) { return !x; }; }));
  registry.add(predicate<FloatTypes>(
      "IsNan", "IsNaN", [](const Attrs&) { return [](auto x) { return std::isnan(x); }; }));
  registry.add(predicate<FloatTypes>("IsInf", "IsInf", [](const Attrs& attrs) {
    return [positive = attrs.get_int("detect_positive", 1) != 0,
            negative = attrs.get_int("detect_negative", 1) != 0](auto x) {
      return std::isinf(x) && (x > 0 ? positive : negative);
    };
  }));
}

}  // namespace aoe::reference
