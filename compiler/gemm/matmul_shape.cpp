// Reads matrix products: broadcasting batches, Gemm's transposes and factors.
#include "compiler/gemm/matmul_shape.h"

#include <algorithm>

#include "base/check.h"
#include "compiler/emit/broadcast_layout.h"

namespace aoe::compiler {
namespace {

MatrixLayout layout_of(const Shape& shape, std::size_t rank) {
  const Shape strides = broadcast_strides(aligned_shape(shape, rank));
  MatrixLayout layout;
  layout.batch.assign(strides.begin(), strides.end() - 2);
  layout.row = strides[rank - 2];
  layout.column = strides[rank - 1];
  return layout;
}

/// Do all leading dimensions and rows of a broadcast operand form one row index?
bool is_row_like(const Shape& operand, const Shape& output) {
  const Shape wide = aligned_shape(operand, output.size());
  const auto leading_equal = [&](std::int64_t to_output) {
    for (std::size_t d = 0; d + 1 < wide.size(); ++d) {
      if (wide[d] != (to_output != 0 ? output[d] : 1)) return false;
    }
    return true;
  };
  return leading_equal(1) || leading_equal(0);
}

bool may_fold_batches(const Task& task, const MatMulShape& shape) {
  if (!shape.is_b_shared()) return false;
  if (aligned_shape(task.in(0).shape, task.out().shape.size()) != [&] {
        Shape a = task.out().shape;
        a.back() = shape.k;
        return a;
      }()) {
    return false;
  }
  const auto behind = static_cast<std::ptrdiff_t>(task.anchor_inputs());
  return std::all_of(task.inputs.begin() + behind, task.inputs.end(), [&](const TaskInput& input) {
    return input.desc.shape.size() <= task.out().shape.size() &&
           is_row_like(input.desc.shape, task.out().shape);
  });
}

Result<MatMulShape> gemm_shape(const Task& task) {
  const reference::Attrs& attrs = task.anchor().attrs;
  const Shape &a = task.in(0).shape, &b = task.in(1).shape;
  const bool trans_a = attrs.get_int("transA", 0) != 0, trans_b = attrs.get_int("transB", 0) != 0;
  MatMulShape s;
  s.m = task.out().shape[0];
  s.n = task.out().shape[1];
  s.k = trans_a ? a[0] : a[1];
  s.a = {.batch = {}, .row = trans_a ? 1 : a[1], .column = trans_a ? a[1] : 1};
  s.b = {.batch = {}, .row = trans_b ? 1 : b[1], .column = trans_b ? b[1] : 1};
  s.alpha = attrs.get_float("alpha", 1);
  s.beta = attrs.get_float("beta", 1);
  s.has_bias = task.anchor_inputs() > 2 && task.inputs[2].is_present();
  return s;
}

}  // namespace

Int MatrixLayout::matrix(Int index, const std::vector<std::int64_t>& batch_dims) const {
  Int offset = 0;
  for (std::size_t d = batch_dims.size(); d-- > 0;) {
    if (batch[d] != 0) offset = offset + (d == 0 ? index : index % batch_dims[d]) * batch[d];
    if (d > 0) index = index / batch_dims[d];
  }
  return offset;
}

std::int64_t MatMulShape::batch() const {
  return element_count(batch_dims);
}

bool MatMulShape::is_b_shared() const {
  return std::all_of(b.batch.begin(), b.batch.end(), [](std::int64_t s) { return s == 0; });
}

double MatMulShape::flops() const {
  return 2.0 * static_cast<double>(batch()) * static_cast<double>(m) * static_cast<double>(n) *
         static_cast<double>(k);
}

Result<MatMulShape> matmul_shape(const Task& task) {
  if (!reference::is_kind(task.anchor().type, reference::OpKind::kProduct) ||
      reference::epilogue_of(task.anchor().type) == reference::Epilogue::kNone)
    return Unexpected(task.anchor().type + " is not a matrix product");
  if (!task.is_static()) return Unexpected("shapes are not static");
  const Shape &a = task.in(0).shape, &out = task.out().shape;
  Shape b = task.in(1).shape;
  const bool is_transposed =
      reference::is_quantised(task.anchor().type) && task.anchor().attrs.get_int("transB", 0) != 0;
  if (is_transposed && b.size() == 2) std::swap(b[0], b[1]);
  if (a.size() < 2 || b.size() < 2) {
    return Unexpected("factor " + aoe::to_string(a.size() < 2 ? a : b) + " is not a matrix");
  }
  if (element_count(a) == 0 || element_count(b) == 0 || element_count(out) == 0) {
    return Unexpected("empty factor: " + aoe::to_string(a) + " * " + aoe::to_string(b));
  }
  if (task.anchor().type == "Gemm") return gemm_shape(task);
  MatMulShape s;
  s.m = out[out.size() - 2];
  s.n = out.back();
  s.k = a.back();
  s.batch_dims.assign(out.begin(), out.end() - 2);
  s.a = layout_of(a, out.size());
  s.b = layout_of(b, out.size());
  if (is_transposed) s.b.row = 1, s.b.column = s.k;
  if (!s.batch_dims.empty() && may_fold_batches(task, s)) {
    s.m = element_count(out) / s.n;
    s.a.row = s.m == 1 ? 0 : s.k;
    s.a.batch.clear();
    s.b.batch.clear();
    s.batch_dims.clear();
  }
  return s;
}

MatrixLayout operand_layout(const Task& task, const MatMulShape& shape, const Shape& operand) {
  const Shape& out = task.out().shape;
  const bool is_folded = shape.batch_dims.size() + 2 != out.size();
  if (!is_folded) return layout_of(operand, out.size());
  AOE_CHECK(is_row_like(operand, out), "rows of " + aoe::to_string(operand) + " cannot be folded");
  const Shape wide = aligned_shape(operand, out.size());
  const std::int64_t rows = element_count(wide) / wide.back();
  return {.batch = {},
          .row = rows == 1 ? 0 : wide.back(),
          .column = wide.back() == 1 ? std::int64_t{0} : std::int64_t{1}};
}

std::string to_string(const MatMulShape& s) {
  const std::string batch = s.batch_dims.empty() ? "" : std::to_string(s.batch()) + " of ";
  return batch + std::to_string(s.m) + "x" + std::to_string(s.k) + " * " + std::to_string(s.k) +
         "x" + std::to_string(s.n);
}

}  // namespace aoe::compiler
