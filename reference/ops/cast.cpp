// Cast and CastLike: the same numbers in another element type.
#include "reference/onnx_data_type.h"
#include "reference/op.h"
#include "reference/typed.h"

namespace aoe::reference {
namespace {

std::vector<TensorDesc> infer_cast(const InferContext& ctx) {
  if (!ctx.attrs.has("to")) fail_model("attribute 'to' is missing");
  return {{.dtype = data_type_from_onnx(ctx.attrs.get_int("to", 0)), .shape = ctx.shape(0)}};
}

std::vector<TensorDesc> infer_cast_like(const InferContext& ctx) {
  return {{.dtype = ctx.dtype(1), .shape = ctx.shape(0)}};
}

void compute_cast(const OpContext& ctx) {
  const std::int64_t count = ctx.outputs[0].elements();
  visit_type<AllTypes>(ctx.inputs[0].desc.dtype, [&]<typename From>() {
    visit_type<AllTypes>(ctx.outputs[0].desc.dtype, [&]<typename To>() {
      const From* from = ctx.inputs[0].as<From>();
      To* to = ctx.outputs[0].as<To>();
      for (std::int64_t i = 0; i < count; ++i) to[i] = convert<To>(from[i]);
    });
  });
}

}  // namespace

void register_cast(OpRegistry& registry) {
  registry.add({.type = "Cast", .onnx_type = "Cast", .infer = infer_cast, .compute = compute_cast});
  registry.add({.type = "CastLike",
                .onnx_type = "CastLike",
                .infer = infer_cast_like,
                .compute = compute_cast,
                .min_inputs = 2});
}

}  // namespace aoe::reference
