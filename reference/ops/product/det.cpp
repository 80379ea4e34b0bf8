// Det: the determinant of each square matrix, by Gaussian elimination with row pivoting.
#include <cmath>
#include <utility>

#include "reference/elements/doubles.h"
#include "reference/fail.h"
#include "reference/op.h"
#include "reference/tensors/widen.h"

namespace aoe::reference {
namespace {

std::vector<TensorDesc> infer_det(const InferContext& context) {
  const Shape& x = context.shape(0);
  if (x.size() < 2) fail_model("input " + to_string(x) + " is not a matrix");
  const std::int64_t rows = x[x.size() - 2], columns = x.back();
  if (rows != columns && rows != kUnknownDim && columns != kUnknownDim) {
    fail_model("matrices of " + to_string(x) + " are not square");
  }
  return {{.dtype = context.dtype(0), .shape = Shape(x.begin(), x.end() - 2)}};
}

/// Destroys the n x n matrix at `a`.
double determinant(double* a, std::size_t n) {
  double result = 1;
  for (std::size_t k = 0; k < n; ++k) {
    std::size_t pivot = k;
    for (std::size_t i = k + 1; i < n; ++i) {
      if (std::abs(a[i * n + k]) > std::abs(a[pivot * n + k])) pivot = i;
    }
    if (a[pivot * n + k] == 0) return 0;
    if (pivot != k) {
      for (std::size_t j = 0; j < n; ++j) std::swap(a[k * n + j], a[pivot * n + j]);
      result = -result;
    }
    result *= a[k * n + k];
    for (std::size_t i = k + 1; i < n; ++i) {
      const double factor = a[i * n + k] / a[k * n + k];
      for (std::size_t j = k; j < n; ++j) a[i * n + j] -= factor * a[k * n + j];
    }
  }
  return result;
}

void compute_det(const OpContext& context) {
  auto x = to_doubles(context.inputs[0]);
  const auto n = static_cast<std::size_t>(context.inputs[0].desc.shape.back());
  std::vector<double> y = doubles(static_cast<std::size_t>(context.outputs[0].elements()));
  for (std::size_t i = 0; i < y.size(); ++i) y[i] = determinant(x.data() + i * n * n, n);
  from_doubles(y, context.outputs[0]);
}

double elimination_steps(const CostContext& cost) {
  return cost.input_elements(0) * static_cast<double>(cost.inputs[0].shape.back());
}

}  // namespace

void register_det(OpRegistry& registry) {
  registry.add({.type = "Det",
                .versions = {11},
                .signature = {"f:2+"},
                .kind = OpKind::kProduct,
                .infer = infer_det,
                .compute = compute_det,
                .work = elimination_steps});
}

}  // namespace aoe::reference
