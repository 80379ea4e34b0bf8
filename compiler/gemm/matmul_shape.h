// MatMulShape: a MatMulV2 or Gemm as plain numbers: batches of C[m, n] = sum over k of A[m, k] * B[k, n].
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "compiler/loopnest/loopnest.h"
#include "compiler/task.h"

namespace aoe::compiler {

/// Strides of one operand as the product reads it; a stride of 0 repeats.
struct MatrixLayout {
  std::vector<std::int64_t> batch;  ///< by batch dimension of the output
  std::int64_t row = 0, column = 0;

  /// Offset of matrix `index`, counted over `batch_dims` in row-major order.
  loopnest::Int matrix(loopnest::Int index, const std::vector<std::int64_t>& batch_dims) const;
};

struct MatMulShape {
  std::vector<std::int64_t> batch_dims;  ///< of the output; empty for one matrix
  std::int64_t m = 1, n = 1, k = 1;
  MatrixLayout a, b;
  float alpha = 1, beta = 1;
  bool has_bias = false;  ///< Gemm's third input

  std::int64_t batch() const;
  bool is_b_shared() const;  ///< one B for all batches
  double flops() const;
};

/// Reads "MatMulV2", "Gemm" or "QuantMatMul" with static shapes; the reason why not otherwise. Batches that share one B become rows of
/// one matrix, where the epilogue's operands allow it.
Result<MatMulShape> matmul_shape(const Task& task);

/// The layout of a dense tensor that broadcasts to the task's output, seen through the same batches and rows.
MatrixLayout operand_layout(const Task& task, const MatMulShape& shape, const Shape& operand);

/// "2x128x768 * 768x3072" for logs and refusals.
std::string to_string(const MatMulShape& shape);

}  // namespace aoe::compiler
