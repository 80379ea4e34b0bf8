// Makes OpDefs of elementwise operators from the function of one element (or of two).
//
//   registry.add(unary<FloatTypes>("Exp", "Exp", [](auto x) { return std::exp(x); }));
//
// The functions are generic lambdas; they get the ComputeType of the element type, so float for the
// 16-bit types.
#pragma once

#include <string>

#include "reference/broadcast.h"
#include "reference/op.h"
#include "reference/typed.h"

namespace aoe::reference {

inline std::vector<TensorDesc> infer_like_first(const InferContext& ctx) {
  return {ctx.inputs[0].desc};
}

/// `make(attrs)` returns the function of one element: for operators with attributes.
template <typename Types, typename Make>
OpDef activation(std::string type, std::string onnx_type, Make make) {
  OpDef def{.type = std::move(type), .onnx_type = std::move(onnx_type)};
  def.infer = infer_like_first;
  def.compute = [make](const OpContext& ctx) {
    visit_type<Types>(ctx.inputs[0].desc.dtype, [&]<typename T>() {
      const auto f = make(ctx.attrs);
      const T* x = ctx.inputs[0].as<T>();
      T* y = ctx.outputs[0].as<T>();
      const std::int64_t count = ctx.outputs[0].elements();
      for (std::int64_t i = 0; i < count; ++i)
        y[i] = static_cast<T>(f(static_cast<ComputeType<T>>(x[i])));
    });
  };
  def.is_elementwise = true;
  return def;
}

template <typename Types, typename F>
OpDef unary(std::string type, std::string onnx_type, F f) {
  return activation<Types>(std::move(type), std::move(onnx_type), [f](const Attrs&) { return f; });
}

/// out = f(a, b) with broadcasting; A, B and Out are the stored types, f gets the ComputeTypes of A
/// and B.
template <typename A, typename B, typename Out, typename F>
void apply_binary(const Tensor& a, const Tensor& b, const Tensor& out, F f) {
  const Shape& shape = out.desc.shape;
  for_each_row<3>(shape,
                  {broadcast_strides(a.desc.shape, shape), broadcast_strides(b.desc.shape, shape),
                   dense_strides(shape)},
                  [&](auto offsets, auto steps, std::int64_t count) {
                    const A* x = a.as<A>() + offsets[0];
                    const B* y = b.as<B>() + offsets[1];
                    Out* z = out.as<Out>() + offsets[2];
                    for (std::int64_t i = 0; i < count; ++i) {
                      z[i * steps[2]] =
                          static_cast<Out>(f(static_cast<ComputeType<A>>(x[i * steps[0]]),
                                             static_cast<ComputeType<B>>(y[i * steps[1]])));
                    }
                  });
}

/// The dtype that all present inputs from `first` on share; Error(kModel) when they differ.
DataType common_dtype(const InferContext& ctx, std::size_t first = 0);

/// One output of the inputs' common dtype and broadcast shape.
std::vector<TensorDesc> infer_broadcast(const InferContext& ctx);

}  // namespace aoe::reference
