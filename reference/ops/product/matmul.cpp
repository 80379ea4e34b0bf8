// MatMulV2, Gemm, MatMulInteger, QLinearMatMul: products of matrices.
#include "reference/elements/doubles.h"
#include "reference/fail.h"
#include "reference/op.h"
#include "reference/products/matrix.h"
#include "reference/slicing.h"
#include "reference/tensors/quantize.h"
#include "reference/tensors/widen.h"

namespace aoe::reference {
namespace {

std::vector<TensorDesc> infer_matmul(const InferContext& context) {
  return {{.dtype = context.dtype(0),
           .shape = matmul_shape(context.shape(0), context.shape(1)).output}};
}

void compute_matmul(const OpContext& context) {
  const Tensor &a = context.inputs[0], &b = context.inputs[1], &c = context.outputs[0];
  const MatMulShape shape = matmul_shape(a.desc.shape, b.desc.shape);
  visit_type<NumericTypes>(b.desc.dtype, [&]<typename T>() {
    if constexpr (kIsFloat<T>) {
      from_doubles(matmul(shape, to_doubles(a), b.as<T>()), c);
    } else {
      from_int64s(matmul(shape, to_int64s(a), b.as<T>()), c);
    }
  });
}

/// One factor of Gemm: its shape after transposing.
Shape gemm_factor(const Attrs& attrs, const std::string& transpose, const Shape& shape) {
  if (shape.size() != 2) fail_model("factor " + to_string(shape) + " is not a matrix");
  return attrs.get_int(transpose, 0) != 0 ? Shape{shape[1], shape[0]} : shape;
}

MatMulShape gemm_shape(const Attrs& attrs, const Shape& a, const Shape& b) {
  return matmul_shape(gemm_factor(attrs, "transA", a), gemm_factor(attrs, "transB", b));
}

std::vector<TensorDesc> infer_gemm(const InferContext& context) {
  const Shape output = gemm_shape(context.attrs, context.shape(0), context.shape(1)).output;
  if (context.has_input(2) && is_static(output) && is_static(context.shape(2)) &&
      !broadcasts_to(context.shape(2), output)) {
    fail_model("bias " + to_string(context.shape(2)) + " does not stretch to " + to_string(output));
  }
  return {{.dtype = context.dtype(0), .shape = output}};
}

/// The left factor, m x k.
std::vector<double> left_factor(const Attrs& attrs, const Tensor& a) {
  auto values = to_doubles(a);
  if (attrs.get_int("transA", 0) == 0) return values;
  const auto rows = static_cast<std::size_t>(a.desc.shape[0]);
  const auto columns = static_cast<std::size_t>(a.desc.shape[1]);
  std::vector<double> transposed = doubles(values.size());
  for (std::size_t i = 0; i < rows; ++i) {
    for (std::size_t j = 0; j < columns; ++j) transposed[j * rows + i] = values[i * columns + j];
  }
  return transposed;
}

void compute_gemm(const OpContext& context) {
  const Tensor &a = context.inputs[0], &b = context.inputs[1], &y = context.outputs[0];
  const double alpha = context.attrs.get_float("alpha", 1);
  const double beta = context.attrs.get_float("beta", 1);
  const MatMulShape s = gemm_shape(context.attrs, a.desc.shape, b.desc.shape);
  const auto left = left_factor(context.attrs, a);
  std::vector<double> values = doubles(static_cast<std::size_t>(y.elements()));
  visit_type<NumericTypes>(b.desc.dtype, [&]<typename T>() {
    if (context.attrs.get_int("transB", 0) != 0) {
      multiply_add_transposed(left.data(), b.as<T>(), values.data(), s.m, s.k, s.n);
    } else {
      multiply_add(left.data(), b.as<T>(), values.data(), s.m, s.k, s.n);
    }
  });
  for (double& value : values) value *= alpha;
  if (context.has_input(2)) {
    const auto bias = to_doubles(context.inputs[2], y.desc.shape);
    for (std::size_t i = 0; i < values.size(); ++i) values[i] += beta * bias[i];
  }
  from_doubles(values, y);
}

/// The shape of a scale or zero point of the left factor: one for all, one per row, or one per row of each matrix.
Shape per_row(Shape parameter) {
  if (parameter.size() == 1 && parameter[0] != 1) parameter.push_back(1);
  return parameter;
}

Tensor per_row(Tensor parameter) {
  parameter.desc.shape = per_row(parameter.desc.shape);
  return parameter;
}

void check_stretches(const Shape& parameter, const Shape& to) {
  if (is_static(parameter) && is_static(to) && !broadcasts_to(parameter, to))
    fail_model("a scale or zero point of " + to_string(parameter) + " does not stretch to " +
               to_string(to));
}

/// x less its zero point, which stretches to it.
std::vector<double> centred(const Tensor& x, const Tensor& zero_point) {
  auto values = to_doubles(x);
  if (!zero_point.is_present()) return values;
  const auto zeros = to_doubles(zero_point, x.desc.shape);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] -= zeros[i];
  return values;
}

std::vector<TensorDesc> infer_matmul_integer(const InferContext& context) {
  if (context.has_input(2)) check_stretches(per_row(context.shape(2)), context.shape(0));
  if (context.has_input(3)) check_stretches(context.shape(3), context.shape(1));
  return {{.dtype = DataType::kInt32,
           .shape = matmul_shape(context.shape(0), context.shape(1)).output}};
}

void compute_matmul_integer(const OpContext& context) {
  const Tensor &a = context.inputs[0], &b = context.inputs[1];
  const Tensor a_zero = context.has_input(2) ? per_row(context.inputs[2]) : Tensor{};
  const Tensor b_zero = context.has_input(3) ? context.inputs[3] : Tensor{};
  const auto right = centred(b, b_zero);
  from_doubles(matmul(matmul_shape(a.desc.shape, b.desc.shape), centred(a, a_zero), right.data()),
               context.outputs[0]);
}

std::vector<TensorDesc> infer_qlinear_matmul(const InferContext& context) {
  const Shape y = matmul_shape(context.shape(0), context.shape(3)).output;
  check_stretches(per_row(context.shape(2)), context.shape(0));
  check_stretches(context.shape(5), context.shape(3));
  for (const std::size_t i : {1, 6, 7}) check_stretches(per_row(context.shape(i)), y);
  check_stretches(context.shape(4), y);
  return {{.dtype = context.dtype(7), .shape = y}};
}

void compute_qlinear_matmul(const OpContext& context) {
  const auto& inputs = context.inputs;
  const Tensor &a = inputs[0], &b = inputs[3], &y = context.outputs[0];
  const auto right = centred(b, inputs[5]);
  auto values = matmul(matmul_shape(a.desc.shape, b.desc.shape), centred(a, per_row(inputs[2])),
                       right.data());
  const auto a_scale = to_doubles(per_row(inputs[1]), y.desc.shape);
  const auto b_scale = to_doubles(inputs[4], y.desc.shape);
  const auto y_scale = to_doubles(per_row(inputs[6]), y.desc.shape);
  const auto y_zero = to_doubles(per_row(inputs[7]), y.desc.shape);
  const QuantRange range = quant_range(y.desc.dtype);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const float multiplier = requantize_multiplier(a_scale[i], b_scale[i], y_scale[i]);
    values[i] = quantize(rescale(values[i], multiplier), y_zero[i], range);
  }
  from_doubles(values, y);
}

/// b's shape as the product reads it: `transB` turns its last two axes.
Shape quant_right_shape(const Attrs& attrs, Shape b) {
  if (attrs.get_int("transB", 0) != 0 && b.size() == 2) std::swap(b[0], b[1]);
  return b;
}

std::vector<TensorDesc> infer_quant_matmul(const InferContext& context) {
  const Shape b = quant_right_shape(context.attrs, context.shape(1));
  return {{.dtype = DataType::kFloat, .shape = matmul_shape(context.shape(0), b).output}};
}

/// a, b, bias, zero points of a and b, multiplier: (sum of integer products + bias) * multiplier. Bias, b's zero point and
/// the multiplier are single values or one per column.
void compute_quant_matmul(const OpContext& context) {
  const Tensor &a = context.inputs[0], &y = context.outputs[0];
  Tensor b = context.inputs[1];
  auto right = to_doubles(b);
  b.desc.shape = quant_right_shape(context.attrs, b.desc.shape);
  const std::int64_t columns = b.desc.shape.back(), rows = b.desc.shape[b.desc.shape.size() - 2];
  const auto b_zero = quant_parameter(context.inputs, 4, 0);
  if (context.attrs.get_int("transB", 0) != 0) {
    const std::vector<double> transposed = right;
    for (std::int64_t k = 0; k < rows; ++k) {
      for (std::int64_t n = 0; n < columns; ++n) right[k * columns + n] = transposed[n * rows + k];
    }
  }
  for (std::size_t i = 0; i < right.size(); ++i) {
    right[i] -= parameter_at(b_zero, static_cast<std::int64_t>(i) % columns);
  }
  auto left = to_doubles(a);
  const double a_zero = quant_parameter(context.inputs, 3, 0)[0];
  for (double& value : left) value -= a_zero;
  auto sums = matmul(matmul_shape(a.desc.shape, b.desc.shape), left, right.data());
  const auto bias = quant_parameter(context.inputs, 2, 0);
  const auto multiplier = to_doubles(context.inputs[5]);
  for (std::size_t i = 0; i < sums.size(); ++i) {
    const auto n = static_cast<std::int64_t>(i) % columns;
    sums[i] =
        rescale(sums[i] + parameter_at(bias, n), static_cast<float>(parameter_at(multiplier, n)));
  }
  from_doubles(sums, y);
}

double row_products(const CostContext& cost) {
  const Shape& left = cost.inputs[0].shape;
  const double length = left.empty() ? 1.0 : static_cast<double>(left.back());
  return 2.0 * length * cost.output_elements();
}

double gemm_products(const CostContext& cost) {
  const bool is_transposed = cost.attrs.get_int("transA", 0) != 0;
  const auto length = static_cast<double>(cost.inputs[0].shape[is_transposed ? 0 : 1]);
  return 2.0 * length * cost.output_elements();
}

double row_steps(const CostContext& cost) {
  return row_products(cost) / 2;
}

/// Rows or matrices of the left factor, columns or matrices of the right one, or matrices of both.
bool products_apart(const Slicing& slicing) {
  const Shape &a = slicing.shape(0), &b = slicing.shape(1), &y = slicing.outputs[0].shape;
  if (a.size() < 2 || b.size() < 2 || !slicing.are_whole(2)) return false;
  const std::size_t place = y.size() - static_cast<std::size_t>(slicing.output_axes[0]);
  const auto is_there = [&](std::size_t i, const Shape& shape) {
    return slicing.axes[i] != kWhole &&
           shape.size() - static_cast<std::size_t>(slicing.axes[i]) == place;
  };
  constexpr std::size_t kColumns = 1, kRows = 2;  // from the last axis
  if (place == kColumns) return is_there(1, b) && slicing.is_whole(0);
  if (place == kRows) return is_there(0, a) && slicing.is_whole(1);
  const auto fits = [&](std::size_t i, const Shape& shape) {
    return slicing.is_whole(i) ? slicing.stretches(i, place) : is_there(i, shape);
  };
  return fits(0, a) && fits(1, b);
}

/// Rows of the left factor, and of what is added.
bool gemm_rows_apart(const Slicing& slicing) {
  const int rows = slicing.attrs.get_int("transA", 0) != 0 ? 1 : 0;
  if (slicing.axes[0] != rows || !slicing.is_whole(1) || slicing.output_axes[0] != 0) return false;
  constexpr std::size_t kRows = 2;
  if (!slicing.has_input(2)) return true;
  return slicing.is_whole(2) ? slicing.stretches(2, kRows)
                             : slicing.shape(2).size() == kRows && slicing.axes[2] == 0;
}

/// Rows of the left factor whose zero point is one for all.
bool integer_rows_apart(const Slicing& slicing) {
  const bool has_one_zero =
      !slicing.has_input(2) || (slicing.is_whole(2) && element_count(slicing.shape(2)) == 1);
  return has_one_zero && slicing.is_whole(1) && products_apart(slicing);
}

/// Rows of the left factor.
bool quant_rows_apart(const Slicing& slicing) {
  const int last = static_cast<int>(slicing.shape(0).size()) - 1;
  return all_apart(slicing) && slicing.axes[0] != last && slicing.output_axes[0] == slicing.axes[0];
}

}  // namespace

void register_matmul(OpRegistry& registry) {
  registry.add({.type = "MatMulV2",
                .onnx_type = "MatMul",
                .signature = {"n1:1+ n1:1+"},
                .kind = OpKind::kProduct,
                .infer = infer_matmul,
                .compute = compute_matmul,
                .flops = row_products,
                .min_inputs = 2,
                .epilogue = Epilogue::kFloat,
                .slices = products_apart,
                .factors = 2,
                .has_faster_sums = true,
                .first_input_may_be_constant = true});
  registry.add(
      {.type = "Gemm",
       .signature = {"n1:2 n1:2 n1?:0-2", "alpha=float beta=float transA=0..1 transB=0..1"},
       .kind = OpKind::kProduct,
       .infer = infer_gemm,
       .compute = compute_gemm,
       .flops = gemm_products,
       .min_inputs = 2,
       .epilogue = Epilogue::kFloat,
       .slices = gemm_rows_apart,
       .factors = 2,
       .has_faster_sums = true,
       .first_input_may_be_constant = true});
  registry.add({.type = "MatMulInteger",
                .versions = {10},
                .signature = {"q:1+ q:1+ q? q?"},
                .kind = OpKind::kProduct,
                .infer = infer_matmul_integer,
                .compute = compute_matmul_integer,
                .flops = row_products,
                .min_inputs = 2,
                .slices = integer_rows_apart,
                .free_values = {1, 2}});
  registry.add({.type = "QLinearMatMul",
                .versions = {10},
                .signature = {"q:1+ f q q:1+ f q f q"},
                .kind = OpKind::kProduct,
                .infer = infer_qlinear_matmul,
                .compute = compute_qlinear_matmul,
                .work = row_steps,
                .min_inputs = 8});
  registry.add({.type = "QuantMatMul",
                .onnx_type = "",
                .signature = {"a?*", "transB=0..1"},
                .kind = OpKind::kProduct,
                .infer = infer_quant_matmul,
                .compute = compute_quant_matmul,
                .flops = row_products,
                .min_inputs = 2,
                .epilogue = Epilogue::kBytes,
                .slices = quant_rows_apart,
                .free_values = {1, 2, 3, 5}});
}

}  // namespace aoe::reference
