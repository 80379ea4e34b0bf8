// Any number of tensors to one, with broadcasting: Max, Min, Sum, Mean.
#include "reference/arithmetic.h"
#include "reference/elementwise.h"

namespace aoe::reference {
namespace {

/// f(accumulator, element) folds the inputs one after the other; finish(accumulator, input count)
/// ends.
template <typename Types, typename F, typename Finish>
void add_variadic(OpRegistry& registry, std::string type, std::string onnx_type, F f,
                  Finish finish) {
  OpDef def{.type = std::move(type), .onnx_type = std::move(onnx_type)};
  def.infer = infer_broadcast;
  def.compute = [f, finish](const OpContext& ctx) {
    const Shape& shape = ctx.outputs[0].desc.shape;
    visit_type<Types>(ctx.outputs[0].desc.dtype, [&]<typename T>() {
      using C = ComputeType<T>;
      std::vector<C> accumulators(static_cast<std::size_t>(ctx.outputs[0].elements()));
      for (const Tensor& input : ctx.inputs) {
        const bool is_first = &input == &ctx.inputs.front();
        for_each_row<2>(shape, {broadcast_strides(input.desc.shape, shape), dense_strides(shape)},
                        [&](auto offsets, auto steps, std::int64_t count) {
                          const T* x = input.as<T>() + offsets[0];
                          C* y = accumulators.data() + offsets[1];
                          for (std::int64_t i = 0; i < count; ++i) {
                            const C value = static_cast<C>(x[i * steps[0]]);
                            C& accumulator = y[i * steps[1]];
                            accumulator = is_first ? value : f(accumulator, value);
                          }
                        });
      }
      T* out = ctx.outputs[0].as<T>();
      for (std::size_t i = 0; i < accumulators.size(); ++i)
        out[i] = static_cast<T>(finish(accumulators[i], ctx.inputs.size()));
    });
  };
  def.is_elementwise = true;
  registry.add(std::move(def));
}

}  // namespace

void register_elementwise_variadic(OpRegistry& registry) {
  const auto keep = [](auto x, std::size_t) { return x; };
  add_variadic<NumericTypes>(
      registry, "Maximum", "Max", [](auto a, auto b) { return maximum(a, b); }, keep);
  add_variadic<NumericTypes>(
      registry, "Minimum", "Min", [](auto a, auto b) { return minimum(a, b); }, keep);
  add_variadic<FloatTypes>(
      registry, "AddN", "Sum", [](auto a, auto b) { return a + b; }, keep);
  add_variadic<FloatTypes>(
      registry, "MeanN", "Mean", [](auto a, auto b) { return a + b; },
      [](auto x, std::size_t inputs) { return x / static_cast<decltype(x)>(inputs); });
}

}  // namespace aoe::reference
