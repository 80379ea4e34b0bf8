// Quantize, Dequantize, DynamicQuantizeLinear: real numbers to small integers and back, per tensor, per axis or per
// block.
#include <algorithm>
#include <cmath>

#include "reference/elements/doubles.h"
#include "reference/elements/onnx_data_type.h"
#include "reference/fail.h"
#include "reference/op.h"
#include "reference/slicing.h"
#include "reference/tensors/axes.h"
#include "reference/tensors/quantize.h"
#include "reference/tensors/widen.h"

namespace aoe::reference {
namespace {

/// A scale or zero point for every element of `x`: one for all, one per position of the axis, or one per block of them.
std::vector<double> spread(const Attrs& attrs, const Tensor& parameter, const Shape& x) {
  const Shape& shape = parameter.desc.shape;
  const auto values = to_doubles(parameter);
  const Spread kind = spread_of(attrs, shape, x);
  if (kind == Spread::kOne)
    return std::vector<double>(static_cast<std::size_t>(element_count(x)), values[0]);
  const std::size_t axis = normalize_axis(attrs.get_int("axis", 1), x.size());
  if (kind == Spread::kAlongAxis) {
    Tensor along_axis = parameter;
    along_axis.desc.shape.resize(x.size() - axis, 1);
    return to_doubles(along_axis, x);
  }
  const std::int64_t block = attrs.get_int("block_size", 0);
  const AxisView to = view_axis(x, axis), from = view_axis(shape, axis);
  std::vector<double> result;
  for (std::int64_t o = 0; o < to.outer; ++o) {
    for (std::int64_t k = 0; k < to.dim; ++k) {
      for (std::int64_t i = 0; i < to.inner; ++i) {
        result.push_back(
            values[static_cast<std::size_t>((o * from.dim + k / block) * from.inner + i)]);
      }
    }
  }
  return result;
}

void check_parameters(const InferContext& context) {
  spread_of(context.attrs, context.shape(1), context.shape(0));
  if (context.has_input(2)) spread_of(context.attrs, context.shape(2), context.shape(0));
}

std::vector<TensorDesc> infer_quantize(const InferContext& context) {
  DataType dtype = DataType::kUint8;
  if (context.has_input(2)) {
    dtype = context.dtype(2);
  } else if (const auto number = context.attrs.get_int("output_dtype", 0); number != 0) {
    dtype = data_type_from_onnx(number);
  }
  quant_range(dtype);  // refuses what is no quantised type
  check_parameters(context);
  return {{.dtype = dtype, .shape = context.shape(0)}};
}

void compute_quantize(const OpContext& context) {
  const Tensor &x = context.inputs[0], &y = context.outputs[0];
  const QuantRange range = quant_range(y.desc.dtype);
  const auto scale = spread(context.attrs, context.inputs[1], x.desc.shape);
  auto values = to_doubles(x);
  const auto zero = context.has_input(2) ? spread(context.attrs, context.inputs[2], x.desc.shape)
                                         : doubles(values.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    // The quotient in float, as the definition has it: in double some ties would round the other way.
    const float scaled = static_cast<float>(values[i]) / static_cast<float>(scale[i]);
    values[i] = quantize(scaled, zero[i], range);
  }
  from_doubles(values, y);
}

/// With one scale and zero point for all. In float32, so that the integers are equal wherever they are computed.
Formula quantize_formula(const FormulaContext& context) {
  const Formula x = convert(context.operand(0), DataType::kFloat);
  const Formula scale = convert(context.operand(1), DataType::kFloat);
  Formula whole = apply(Fn::kRoundEven, {x / scale});
  if (context.has_operand(2)) whole = whole + convert(context.operand(2), DataType::kFloat);
  return saturate(whole, context.output);
}

std::vector<TensorDesc> infer_dequantize(const InferContext& context) {
  check_parameters(context);
  if (context.has_input(2) && context.dtype(2) != context.dtype(0))
    fail_model("the zero point is " + std::string(name(context.dtype(2))) + ", needs " +
               std::string(name(context.dtype(0))));
  const auto number = context.attrs.get_int("output_dtype", 0);
  return {{.dtype = number != 0 ? data_type_from_onnx(number) : context.dtype(1),
           .shape = context.shape(0)}};
}

void compute_dequantize(const OpContext& context) {
  const Tensor& x = context.inputs[0];
  const auto scale = spread(context.attrs, context.inputs[1], x.desc.shape);
  auto values = to_doubles(x);
  if (context.has_input(2)) {
    const auto zero = spread(context.attrs, context.inputs[2], x.desc.shape);
    for (std::size_t i = 0; i < values.size(); ++i) values[i] -= zero[i];
  }
  for (std::size_t i = 0; i < values.size(); ++i) values[i] *= scale[i];
  from_doubles(values, context.outputs[0]);
}

/// With one scale and zero point for all.
Formula dequantize_formula(const FormulaContext& context) {
  Formula x = convert(context.operand(0), DataType::kFloat);
  if (context.has_operand(2)) x = x - convert(context.operand(2), DataType::kFloat);
  return x * convert(context.operand(1), DataType::kFloat);
}

std::vector<TensorDesc> infer_dynamic_quantize(const InferContext& context) {
  return {{.dtype = DataType::kUint8, .shape = context.shape(0)},
          {.dtype = DataType::kFloat, .shape = {}},
          {.dtype = DataType::kUint8, .shape = {}}};
}

/// The range is widened to hold zero, so that zero is exact.
void compute_dynamic_quantize(const OpContext& context) {
  auto values = to_doubles(context.inputs[0]);
  float low = 0, high = 0;
  for (double value : values) {
    low = std::min(low, static_cast<float>(value));
    high = std::max(high, static_cast<float>(value));
  }
  const QuantRange range = quant_range(DataType::kUint8);
  const float scale = (high - low) / static_cast<float>(range.max);
  // A tensor of zeros has no scale of its own; any will do.
  const float divisor = scale == 0 ? 1 : scale;
  const double zero_point =
      std::nearbyint(std::clamp(static_cast<double>(-low / divisor), range.min, range.max));
  for (double& value : values) {
    value = quantize(static_cast<float>(value) / divisor, zero_point, range);
  }
  if (context.has_output(0)) from_doubles(values, context.outputs[0]);
  if (context.has_output(1))
    from_doubles(std::array{static_cast<double>(scale)}, context.outputs[1]);
  if (context.has_output(2)) from_doubles(std::array{zero_point}, context.outputs[2]);
}

/// Along which scales and zero points go that are not one for all.
std::vector<bool> parameter_axes(const Slicing& slicing) {
  const Shape& x = slicing.shape(0);
  std::vector<bool> flags(x.size(), false);
  for (const std::size_t i : {1, 2})
    if (slicing.has_input(i) && spread_of(slicing.attrs, slicing.shape(i), x) != Spread::kOne)
      flags[normalize_axis(slicing.attrs.get_int("axis", 1), x.size())] = true;
  return flags;
}

}  // namespace

void register_quantize_linear(OpRegistry& registry) {
  registry.add({.type = "Quantize",
                .onnx_type = "QuantizeLinear",
                .versions = {10},
                .signature = {"n f i?", "axis=int saturate=0..1 block_size=0.. output_dtype=0.."},
                .kind = OpKind::kElementwise,
                .infer = infer_quantize,
                .compute = compute_quantize,
                .formula = quantize_formula,
                .first_parameter = 1,
                .min_inputs = 2,
                .slices = apart_but_for(parameter_axes),
                .free_values = {1, 2}});
  registry.add({.type = "Dequantize",
                .onnx_type = "DequantizeLinear",
                .versions = {10},
                .signature = {"i f i?", "axis=int block_size=0.. output_dtype=0.."},
                .kind = OpKind::kElementwise,
                .infer = infer_dequantize,
                .compute = compute_dequantize,
                .formula = dequantize_formula,
                .first_parameter = 1,
                .min_inputs = 2,
                .slices = apart_but_for(parameter_axes),
                .free_values = {1, 2}});
  registry.add({.type = "DynamicQuantizeLinear",
                .versions = {11},
                .signature = {"s"},
                .kind = OpKind::kReduction,
                .infer = infer_dynamic_quantize,
                .compute = compute_dynamic_quantize});
}

}  // namespace aoe::reference
