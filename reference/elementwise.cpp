// Shape inference shared by the elementwise operators.
#include "reference/elementwise.h"

namespace aoe::reference {

DataType common_dtype(const InferContext& ctx, std::size_t first) {
  const DataType dtype = ctx.dtype(first);
  for (std::size_t i = first + 1; i < ctx.inputs.size(); ++i) {
    if (ctx.has_input(i) && ctx.dtype(i) != dtype)
      fail_model("element types differ: " + std::string(name(dtype)) + " and " +
                 std::string(name(ctx.dtype(i))));
  }
  return dtype;
}

std::vector<TensorDesc> infer_broadcast(const InferContext& ctx) {
  Shape shape = ctx.shape(0);
  for (std::size_t i = 1; i < ctx.inputs.size(); ++i) {
    if (!ctx.has_input(i)) fail_model("input " + std::to_string(i) + " is missing");
    shape = broadcast_shapes(shape, ctx.shape(i));
  }
  return {{.dtype = common_dtype(ctx), .shape = std::move(shape)}};
}

}  // namespace aoe::reference
