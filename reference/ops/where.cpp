// Where: elements of one of two tensors, chosen by a third.
#include "reference/elementwise.h"

namespace aoe::reference {
namespace {

std::vector<TensorDesc> infer_where(const InferContext& ctx) {
  if (ctx.dtype(0) != DataType::kBool)
    fail_model("the condition is " + std::string(name(ctx.dtype(0))));
  const Shape values = broadcast_shapes(ctx.shape(1), ctx.shape(2));
  return {{.dtype = common_dtype(ctx, 1), .shape = broadcast_shapes(ctx.shape(0), values)}};
}

void compute_where(const OpContext& ctx) {
  const Tensor& out = ctx.outputs[0];
  const Shape& shape = out.desc.shape;
  visit_word(out.desc.dtype, [&]<typename Word>() {
    for_each_row<4>(shape,
                    {broadcast_strides(ctx.inputs[0].desc.shape, shape),
                     broadcast_strides(ctx.inputs[1].desc.shape, shape),
                     broadcast_strides(ctx.inputs[2].desc.shape, shape), dense_strides(shape)},
                    [&](auto offsets, auto steps, std::int64_t count) {
                      const bool* condition = ctx.inputs[0].as<bool>() + offsets[0];
                      const Word* x = ctx.inputs[1].as<Word>() + offsets[1];
                      const Word* y = ctx.inputs[2].as<Word>() + offsets[2];
                      Word* z = out.as<Word>() + offsets[3];
                      for (std::int64_t i = 0; i < count; ++i)
                        z[i * steps[3]] =
                            condition[i * steps[0]] ? x[i * steps[1]] : y[i * steps[2]];
                    });
  });
}

}  // namespace

void register_where(OpRegistry& registry) {
  registry.add({.type = "SelectV2",
                .onnx_type = "Where",
                .infer = infer_where,
                .compute = compute_where,
                .min_inputs = 3});
}

}  // namespace aoe::reference
