// MatMulV2, Gemm, MatMulInteger, QLinearMatMul: products of matrices.
#include "reference/fail.h"
#include "reference/matrix.h"
#include "reference/op.h"
#include "reference/quantize.h"
#include "reference/widen.h"

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
  std::vector<double> transposed(values.size());
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
  std::vector<double> values(static_cast<std::size_t>(y.elements()));
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

/// A scale or zero point of the left factor: one for all, one per row, or one per row of each matrix.
Tensor per_row(Tensor parameter) {
  if (parameter.desc.shape.size() == 1) parameter.desc.shape.push_back(1);
  return parameter;
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
  return {{.dtype = context.dtype(7),
           .shape = matmul_shape(context.shape(0), context.shape(3)).output}};
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
    values[i] = quantize(values[i] * a_scale[i] * b_scale[i] / y_scale[i], y_zero[i], range);
  }
  from_doubles(values, y);
}

}  // namespace

void register_matmul(OpRegistry& registry) {
  registry.add({.type = "MatMulV2",
                .onnx_type = "MatMul",
                .infer = infer_matmul,
                .compute = compute_matmul,
                .min_inputs = 2});
  registry.add({.type = "Gemm",
                .onnx_type = "Gemm",
                .infer = infer_gemm,
                .compute = compute_gemm,
                .min_inputs = 2});
  registry.add({.type = "MatMulInteger",
                .onnx_type = "MatMulInteger",
                .versions = {10},
                .infer = infer_matmul_integer,
                .compute = compute_matmul_integer,
                .min_inputs = 2});
  registry.add({.type = "QLinearMatMul",
                .onnx_type = "QLinearMatMul",
                .versions = {10},
                .infer = infer_qlinear_matmul,
                .compute = compute_qlinear_matmul,
                .min_inputs = 8});
}

}  // namespace aoe::reference
