// onednn_matmul: oneDNN's matrix product: one matrix or batches, the epilogue as post-ops, a constant right factor in the
// layout that oneDNN chooses.
#include <algorithm>

#include "compiler/gemm/matmul_shape.h"
#include "compiler/onednn/onednn_impl.h"

namespace aoe::compiler {
namespace {

using nlohmann::json;

/// rows x columns of each batch; a dimension that repeats is 1.
json factor_desc(const MatMulShape& s, const MatrixLayout& layout, std::int64_t rows,
                 std::int64_t columns) {
  Shape dims = s.batch_dims, strides = layout.batch;
  dims.insert(dims.end(), {rows, columns});
  strides.insert(strides.end(),
                 {rows == 1 ? columns : layout.row, columns == 1 ? 1 : layout.column});
  for (std::size_t d = 0; d < s.batch_dims.size(); ++d)
    if (strides[d] == 0) dims[d] = 1, strides[d] = rows * columns;
  return onednn_strided(dims, strides);
}

Shape output_dims(const MatMulShape& s) {
  Shape dims = s.batch_dims;
  dims.insert(dims.end(), {s.m, s.n});
  return dims;
}

/// Gemm's third input as what oneDNN adds: one number, one per column, or a whole output.
Result<void> accepts_bias(const Task& task, const MatMulShape& s) {
  if (!s.has_bias) return {};
  const Shape& bias = task.in(2).shape;
  const bool is_row = element_count(bias) == s.n && (bias.empty() || bias.back() == s.n);
  if (!is_row && element_count(bias) != 1 && bias != task.out().shape)
    return Unexpected("bias " + aoe::to_string(bias) + ", needs one number, " +
                      std::to_string(s.n) + " or " + aoe::to_string(task.out().shape));
  if (!task.inputs[2].constant && s.beta != 1)
    return Unexpected("beta of a bias that is not constant");
  return {};
}

class OneDnnMatMul final : public OneDnnImpl {
 public:
  std::string_view name() const override { return "onednn_matmul"; }

 protected:
  double estimate_ns(const Task& task, const FormatChoice&, const Soc& soc) const override {
    const MatMulShape s = matmul_shape(task).value();
    // Of the peak as measured on a Zen 5 core, columns rounded up to whole vectors.
    constexpr double kPacked = 0.95, kCopied = 0.85, kFewRowsPacked = 0.8;
    constexpr std::int64_t kFewRows = 8;
    const std::int64_t vectors = (s.n + soc.vector_lanes() - 1) / soc.vector_lanes();
    const double lane_use =
        static_cast<double>(s.n) / static_cast<double>(vectors * soc.vector_lanes());
    // 128x32 by 32x192 took twice as long as `gemm_packed`: sums of few products are written as soon as they are begun.
    constexpr double kShortSum = 64;
    const double sum_use = std::min(1.0, static_cast<double>(s.k) / kShortSum);
    return onednn_estimate_ns(task, soc, s.flops() / (lane_use * sum_use),
                              !task.inputs[1].constant ? kCopied
                              : s.m < kFewRows         ? kFewRowsPacked
                                                       : kPacked);
  }

  Result<void> accepts(const Task& task) const override {
    const Result<MatMulShape> shape = matmul_shape(task);
    if (!shape) return Unexpected(shape.error());
    if (reference::is_quantised(task.anchor().type)) return Unexpected("multiplies float32 only");
    if (task.inputs[0].constant) return Unexpected("the left factor is constant");
    return accepts_bias(task, *shape);
  }

  std::vector<FormatChoice> candidates(const Task& task) const override {
    return {dense_format(task)};
  }

  Result<OneDnnDraft> draft(const Task& task, const FormatChoice& format,
                            const Soc& soc) const override {
    const MatMulShape s = matmul_shape(task).value();
    OneDnnDraft draft(task, format, soc, "matmul");
    draft.input("src", 0, factor_desc(s, s.a, s.m, s.k));
    draft.output("dst", 0, onednn_dense(output_dims(s)));
    const json right = factor_desc(s, s.b, s.k, s.n);
    if (task.inputs[1].constant) {
      draft.weights("weights", right.at("dims").get<Shape>(), right,
                    draft.packed_input(1, s.alpha));
    } else {
      draft.input("weights", 1, right);
      if (s.alpha != 1) draft.post_op("eltwise_linear", s.alpha, 0);
    }
    if (s.has_bias) draft.post_op_add(2, s.beta);
    if (Result<void> added = draft.add_epilogue(); !added) return Unexpected(added.error());
    return draft;
  }
};

}  // namespace

void register_onednn_matmul(ImplRegistry& registry) {
  registry.add(std::make_unique<OneDnnMatMul>());
}

}  // namespace aoe::compiler
