// MaxUnpool: puts each maximum back where MaxPool's indices say it came from; zero elsewhere.
#include "reference/elements/doubles.h"
#include "reference/fail.h"
#include "reference/op.h"
#include "reference/tensors/axes.h"
#include "reference/tensors/strided.h"
#include "reference/tensors/widen.h"
#include "reference/windows/block_window.h"

namespace aoe::reference {
namespace {

std::vector<TensorDesc> infer_max_unpool(const InferContext& context) {
  check_same_shape(context.shape(1), context.shape(0), "the tensor of indices");
  Shape shape = unpooled_shape(context.attrs, context.shape(0));
  if (context.has_value(2)) {
    shape = to_int64s(context.inputs[2]);
    check_not_negative(shape, "output_shape");
    if (shape.size() != context.shape(0).size()) {
      fail_model("output_shape " + to_string(shape) + " for input " + to_string(context.shape(0)));
    }
  } else if (context.has_input(2)) {
    shape.assign(shape.size(), kUnknownDim);
  }
  return {{.dtype = context.dtype(0), .shape = std::move(shape)}};
}

void compute_max_unpool(const OpContext& context) {
  const Shape natural = unpooled_shape(context.attrs, context.inputs[0].desc.shape);
  const Shape& given = context.outputs[0].desc.shape;
  const Strides strides = dense_strides(given);
  const auto x = to_doubles(context.inputs[0]);
  const auto indices = to_int64s(context.inputs[1]);
  if (indices.size() != x.size()) {
    fail_model(std::to_string(indices.size()) + " indices for " + std::to_string(x.size()) +
               " values");
  }
  std::vector<double> y = doubles(static_cast<std::size_t>(context.outputs[0].elements()));
  for (std::size_t i = 0; i < x.size(); ++i) {
    std::int64_t rest = indices[i], offset = 0;
    if (rest < 0 || rest >= element_count(natural)) {
      fail_model("index " + std::to_string(rest) + " is outside " + to_string(natural));
    }
    bool is_inside = true;
    for (std::size_t axis = natural.size(); axis-- > 0;) {
      const std::int64_t position = rest % natural[axis];
      rest /= natural[axis];
      is_inside = is_inside && position < given[axis];
      offset += position * strides[axis];
    }
    if (!is_inside)
      fail_model("index " + std::to_string(indices[i]) + " is outside " + to_string(given));
    y[static_cast<std::size_t>(offset)] = x[i];
  }
  from_doubles(y, context.outputs[0]);
}

}  // namespace

void register_max_unpool(OpRegistry& registry) {
  registry.add(
      {.type = "MaxUnpool",
       .versions = {9},
       .signature = {"f:3-5 l:3-5 l?:1", "!kernel_shape=ints:1.. strides=ints:1.. pads=ints:0.."},
       .kind = OpKind::kMove,
       .infer = infer_max_unpool,
       .compute = compute_max_unpool,
       .min_inputs = 2});
}

}  // namespace aoe::reference
