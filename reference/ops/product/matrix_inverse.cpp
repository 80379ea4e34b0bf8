// MatrixInverse: the inverse of each square matrix, by Gaussian elimination with row pivoting. That of a singular one has
// infinities and NaN.
#include <cmath>
#include <utility>

#include "reference/elements/doubles.h"
#include "reference/fail.h"
#include "reference/op.h"
#include "reference/tensors/widen.h"

namespace aoe::reference {
namespace {

std::vector<TensorDesc> infer_inverse(const InferContext& context) {
  const Shape& x = context.shape(0);
  const std::int64_t rows = x[x.size() - 2], columns = x.back();
  if (rows != columns && rows != kUnknownDim && columns != kUnknownDim)
    fail_model("matrices of " + to_string(x) + " are not square");
  return {{.dtype = context.dtype(0), .shape = x}};
}

/// Brings the n x n matrix at `a` to an upper triangle, and does the same to `x`.
void eliminate(double* a, double* x, std::size_t n) {
  for (std::size_t k = 0; k < n; ++k) {
    std::size_t pivot = k;
    for (std::size_t i = k + 1; i < n; ++i)
      if (std::abs(a[i * n + k]) > std::abs(a[pivot * n + k])) pivot = i;
    for (std::size_t j = 0; pivot != k && j < n; ++j) {
      std::swap(a[k * n + j], a[pivot * n + j]);
      std::swap(x[k * n + j], x[pivot * n + j]);
    }
    if (a[k * n + k] == 0) continue;
    for (std::size_t i = k + 1; i < n; ++i) {
      const double factor = a[i * n + k] / a[k * n + k];
      for (std::size_t j = k; j < n; ++j) a[i * n + j] -= factor * a[k * n + j];
      for (std::size_t j = 0; j < n; ++j) x[i * n + j] -= factor * x[k * n + j];
    }
  }
}

/// Destroys the n x n matrix at `a`; `x` is zeros.
void invert(double* a, double* x, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) x[i * n + i] = 1;
  eliminate(a, x, n);
  for (std::size_t k = n; k-- > 0;)
    for (std::size_t j = 0; j < n; ++j) {
      for (std::size_t i = k + 1; i < n; ++i) x[k * n + j] -= a[k * n + i] * x[i * n + j];
      x[k * n + j] /= a[k * n + k];
    }
}

void compute_inverse(const OpContext& context) {
  auto x = to_doubles(context.inputs[0]);
  const auto n = static_cast<std::size_t>(context.inputs[0].desc.shape.back());
  std::vector<double> y = doubles(x.size());
  for (std::size_t at = 0; at < x.size(); at += n * n) invert(x.data() + at, y.data() + at, n);
  from_doubles(y, context.outputs[0]);
}

double inversion_steps(const CostContext& cost) {
  return 2 * cost.input_elements(0) * static_cast<double>(cost.inputs[0].shape.back());
}

}  // namespace

void register_matrix_inverse(OpRegistry& registry) {
  registry.add({.type = "MatrixInverse",
                .onnx_type = "",
                .signature = {"f:2+"},
                .kind = OpKind::kProduct,
                .infer = infer_inverse,
                .compute = compute_inverse,
                .work = inversion_steps});
}

}  // namespace aoe::reference
