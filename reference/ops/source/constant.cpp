// Tensors out of nothing but attributes and shapes: Constant, ConstantOfShape, Range, EyeLike.
#include <algorithm>
#include <cmath>

#include "base/size.h"
#include "reference/elements/arithmetic.h"
#include "reference/elements/onnx_data_type.h"
#include "reference/elements/range.h"
#include "reference/elements/typed.h"
#include "reference/op.h"
#include "reference/tensors/axes.h"
#include "reference/tensors/strided.h"

namespace aoe::reference {
namespace {

template <typename T>
ConstantPtr make_constant(Shape shape, const std::vector<T>& values) {
  return std::make_shared<Constant>(
      TensorDesc{.dtype = data_type_of<T>(), .shape = std::move(shape)}, values.data());
}

/// The value, whichever attribute holds it.
ConstantPtr constant_of(const Attrs& attrs) {
  if (ConstantPtr value = attrs.get_tensor("value")) return value;
  if (attrs.has("value_float"))
    return make_constant<float>({}, {attrs.get_float("value_float", 0)});
  if (attrs.has("value_int"))
    return make_constant<std::int64_t>({}, {attrs.get_int("value_int", 0)});
  if (attrs.has("value_floats")) {
    const std::vector<float> values = attrs.get_floats("value_floats");
    return make_constant<float>({static_cast<std::int64_t>(values.size())}, values);
  }
  if (attrs.has("value_ints")) {
    const std::vector<std::int64_t> values = attrs.get_ints("value_ints");
    return make_constant<std::int64_t>({static_cast<std::int64_t>(values.size())}, values);
  }
  fail_model("has no value that is a dense tensor of numbers");
}

std::vector<TensorDesc> infer_constant(const InferContext& ctx) {
  return {constant_of(ctx.attrs)->desc()};
}

void compute_constant(const OpContext& ctx) {
  copy_dense(constant_of(ctx.attrs)->view(), ctx.outputs[0]);
}

std::vector<TensorDesc> infer_fill(const InferContext& ctx) {
  const ConstantPtr value = ctx.attrs.get_tensor("value");
  if (value && element_count(value->desc().shape) != 1)
    fail_model("attribute 'value' has shape " + to_string(value->desc().shape) +
               ", expected one element");
  TensorDesc out{.dtype = value ? value->desc().dtype : DataType::kFloat};
  if (ctx.has_value(0)) {
    out.shape = read_ints(ctx.inputs[0]);
    check_not_negative(out.shape, "dimensions");
    return {out};
  }
  const std::int64_t rank = element_count(ctx.shape(0));
  if (rank == kUnknownDim) throw Undetermined{};
  out.shape.assign(static_cast<std::size_t>(rank), kUnknownDim);
  return {out};
}

void compute_fill(const OpContext& ctx) {
  const float zero = 0;
  const ConstantPtr value = ctx.attrs.get_tensor("value");
  fill(ctx.outputs[0], value ? value->data() : &zero);
}

std::vector<TensorDesc> infer_range(const InferContext& ctx) {
  TensorDesc out{.dtype = ctx.dtype(0), .shape = {kUnknownDim}};
  if (!ctx.has_value(0) || !ctx.has_value(1) || !ctx.has_value(2)) return {out};
  visit_type<NumericTypes>(out.dtype, [&]<typename T>() {
    using C = ComputeType<T>;
    out.shape[0] =
        range_count(read_scalar<C>(ctx.inputs[0], "start"), read_scalar<C>(ctx.inputs[1], "limit"),
                    read_scalar<C>(ctx.inputs[2], "delta"));
  });
  return {out};
}

void compute_range(const OpContext& ctx) {
  visit_type<NumericTypes>(ctx.outputs[0].desc.dtype, [&]<typename T>() {
    write_range(ctx.inputs[0], ctx.inputs[2], 0, ctx.outputs[0].elements(), ctx.outputs[0].as<T>());
  });
}

std::vector<TensorDesc> infer_eye(const InferContext& ctx) {
  if (ctx.shape(0).size() != 2)
    fail_model("the shape is " + to_string(ctx.shape(0)) + ", expected a matrix");
  const bool has_dtype = ctx.attrs.has("dtype");
  return {{.dtype = has_dtype ? data_type_from_onnx(ctx.attrs.get_int("dtype", 0)) : ctx.dtype(0),
           .shape = ctx.shape(0)}};
}

void compute_eye(const OpContext& ctx) {
  const Tensor& out = ctx.outputs[0];
  const std::int64_t diagonal = ctx.attrs.get_int("k", 0);
  const std::int64_t rows = out.desc.shape[0];
  const std::int64_t columns = out.desc.shape[1];
  visit_type<AllTypes>(out.desc.dtype, [&]<typename T>() {
    std::fill_n(out.as<T>(), rows * columns, T{});
    // Compared first: a diagonal may lie beyond any matrix.
    if (diagonal >= columns || diagonal <= -rows) return;
    for (std::int64_t r = std::max<std::int64_t>(0, -diagonal); r < rows && r + diagonal < columns;
         ++r)
      out.as<T>()[r * columns + r + diagonal] = convert<T>(1);
  });
}

}  // namespace

void register_constant(OpRegistry& registry) {
  registry.add(
      {.type = "Const",
       .onnx_type = "Constant",
       .signature =
           {"",
            "value=tensor value_float=float value_int=long value_floats=floats value_ints=longs"},
       .kind = OpKind::kSource,
       .infer = infer_constant,
       .compute = compute_constant,
       .min_inputs = 0});
  registry.add({.type = "Fill",
                .onnx_type = "ConstantOfShape",
                .signature = {"l:1", "value=tensor"},
                .kind = OpKind::kSource,
                .infer = infer_fill,
                .compute = compute_fill,
                .first_parameter = 0});
  registry.add({.type = "Range",
                .signature = {"n1:0-1 n1:0-1 n1:0-1"},
                .kind = OpKind::kSource,
                .infer = infer_range,
                .compute = compute_range,
                .first_parameter = 0,
                .min_inputs = 3});
  registry.add({.type = "Eye",
                .onnx_type = "EyeLike",
                .signature = {"a:2", "dtype=1.. k=long"},
                .kind = OpKind::kSource,
                .infer = infer_eye,
                .compute = compute_eye,
                .reads_shape_only = true});
}

}  // namespace aoe::reference
