// few_columns: MatMulV2 and Gemm of many rows whose second factor is constant and has a few short columns: dot products, as of one column
// (matrix_vector.cpp). Rows are read in the order in which they lie, where a register block would read some dozens side by side, which
// prefetchers do not follow; as many rows as fill a vector of the output are added up together.
#include <algorithm>

#include "compiler/emit/block_loops.h"
#include "compiler/emit/epilogue.h"
#include "compiler/emit/integer_math.h"
#include "compiler/emit/lane_folds.h"
#include "compiler/emit/packed_constant.h"
#include "compiler/gemm/dot_products.h"
#include "compiler/gemm/matrix_store.h"
#include "compiler/tiled_plan.h"

namespace aoe::compiler {
namespace {

constexpr std::int64_t kMostColumns = 8, kMostVectors = 64;  ///< of all columns, which are unrolled

struct ColumnsTiling {
  std::int64_t m_tile = 1;  ///< blocks of rows per parallel iteration
};

class ColumnsCut {
 public:
  ColumnsCut(const MatMulShape& shape, int lanes, const ColumnsTiling& tiling)
      : shape_(shape), lanes_(lanes), tiling_(tiling) {}

  ColumnsCut with(const ColumnsTiling& tiling) const { return ColumnsCut(shape_, lanes_, tiling); }

  const MatMulShape& shape() const { return shape_; }
  const ColumnsTiling& tiling() const { return tiling_; }
  int lanes() const { return lanes_; }
  std::int64_t rows_of_block() const { return lanes_ / shape_.n; }
  std::int64_t vectors() const { return ceil_div(shape_.k, lanes_); }
  std::int64_t row_blocks() const { return ceil_div(shape_.m, rows_of_block()); }
  std::int64_t parallel_extent() const { return ceil_div(row_blocks(), tiling_.m_tile); }

  double core_cycles() const {
    constexpr double kProduct = 0.5, kFold = 1;  // of a vector, of a lane
    const auto products = static_cast<double>(rows_of_block() * vectors() * (shape_.n + 1));
    return static_cast<double>(row_blocks()) * (kProduct * products + kFold * lanes_);
  }

 private:
  MatMulShape shape_;
  int lanes_;
  ColumnsTiling tiling_;
};

/// Columns as rows, each filled up with zeros to whole vectors, times alpha.
PackedConstant packed_columns(const ConstantPtr& b, const ColumnsCut& cut) {
  const std::int64_t stride = cut.vectors() * cut.lanes();
  return packed_numbers<float>(cut.shape().n * stride, [b, s = cut.shape(), stride](float* to) {
    const auto* const from = static_cast<const float*>(b->data());
    for (std::int64_t j = 0; j < s.n; ++j)
      for (std::int64_t i = 0; i < s.k; ++i)
        to[j * stride + i] = s.alpha * from[i * s.b.row + j * s.b.column];
  });
}

class ColumnsNest {
 public:
  ColumnsNest(const Task& task, const ColumnsCut& cut) : task_(task), cut_(cut), s_(cut.shape()) {}

  Kernel build() {
    std::vector<PackedConstant> constants = {packed_columns(task_.inputs[1].constant, cut_)};
    for (std::size_t i = 2; i < task_.inputs.size(); ++i)
      if (task_.inputs[i].constant) constants.push_back(packed_as_is(task_.inputs[i].constant));
    Builder builder("few_columns");
    buffers_ = declare_buffers(builder, task_, constants.size(), false);
    std::size_t constant = 1;
    for (std::size_t i = 2; i < task_.inputs.size(); ++i)
      if (task_.inputs[i].constant) buffers_.inputs[i] = buffers_.constants[constant++];
    builder.parallel(cut_.parallel_extent(), [&](Int tile) {
      each_block(builder, block_runs(s_.m, cut_.rows_of_block()), tile, cut_.tiling().m_tile, "row",
                 [&](Int row, std::int64_t rows, Int) { write_block(builder, row, rows); });
    });
    return jit_kernel(builder.finish(), std::move(constants));
  }

 private:
  /// Some rows, whose lanes are the outputs row after row.
  struct Place {
    Int row;
    std::int64_t rows;
  };

  void write_block(Builder& builder, Int row, std::int64_t rows) const {
    const Place at{row, rows};
    std::vector<Vec> totals;
    for (std::int64_t r = 0; r < rows; ++r) add_row(builder, row + r, totals);
    Vec result = fold_lanes(builder, std::move(totals), loopnest::add);
    if (s_.has_bias)
      result = result + operand(builder, 2, at) * loopnest::splat(s_.beta, cut_.lanes());
    result = emit_epilogue(builder, task_, result, [&](int input) {
      return operand(builder, static_cast<std::size_t>(input), at);
    });
    builder.store(buffers_.outputs[0], row * s_.n, result, active(rows * s_.n));
  }

  /// Its dot product with each column.
  void add_row(Builder& builder, Int row, std::vector<Vec>& totals) const {
    const std::int64_t lanes = cut_.lanes();
    std::vector<Vec> x;
    for (std::int64_t k = 0; k < s_.k; k += lanes)
      x.push_back(load(builder, *buffers_.inputs[0], row * s_.a.row + k, s_.k - k));
    for (std::int64_t j = 0; j < s_.n; ++j)
      totals.push_back(sum_of_products(builder, cut_.vectors(), [&](std::int64_t v) {
        const Int at = (j * cut_.vectors() + v) * lanes;
        return std::pair(x[static_cast<std::size_t>(v)],
                         load(builder, buffers_.constants[0], at, lanes));
      }));
  }

  std::optional<Int> active(std::int64_t count) const {
    return count < cut_.lanes() ? std::optional(Int(count)) : std::nullopt;
  }

  Vec load(Builder& builder, const loopnest::Buffer& buffer, Int at, std::int64_t count) const {
    return builder.get(builder.local(builder.load(buffer, at, cut_.lanes(), active(count))));
  }

  /// One number, one for each column or row, or one for each output.
  Vec operand(Builder& builder, std::size_t i, const Place& at) const {
    const loopnest::Buffer& buffer = *buffers_.inputs[i];
    const MatrixLayout layout = operand_layout(task_, s_, task_.in(i).shape);
    if (layout.row == 0 && layout.column == 0)
      return builder.load_as(loopnest::Type::kFloat, buffer, Int(0), cut_.lanes(), {}, 0);
    if (layout.row != 0 && layout.column != 0)
      return load(builder, buffer, at.row * layout.row, at.rows * s_.n);
    std::vector<int> from;
    for (int lane = 0; lane < cut_.lanes(); ++lane) {
      const auto n = static_cast<int>(s_.n);
      from.push_back(layout.row == 0 ? lane % n
                                     : std::min(lane / n, static_cast<int>(at.rows) - 1));
    }
    return permute(layout.row == 0 ? load(builder, buffer, Int(0), s_.n)
                                   : load(builder, buffer, at.row * layout.row, at.rows),
                   from);
  }

  const Task& task_;
  const ColumnsCut& cut_;
  const MatMulShape& s_;
  KernelBuffers buffers_;
};

TilingAxes<ColumnsTiling> columns_axes(const ColumnsCut& any, const Soc&) {
  return {{"m_tile", &ColumnsTiling::m_tile,
           powers_of_two(std::min<std::int64_t>(64, any.row_blocks()))}};
}

class FewColumnsPlan final : public RetiledPlan<ColumnsTiling, ColumnsCut> {
 public:
  FewColumnsPlan(const Task& task, const FormatChoice& format, const Soc& soc)
      : RetiledPlan(task, format, soc,
                    ColumnsCut(matmul_shape(task).value(), soc.vector_lanes(), {}), columns_axes) {}

 private:
  bool fits(const ColumnsCut& cut) const override {
    return cut.tiling().m_tile <= cut.row_blocks();
  }
  double cycles(const ColumnsCut& cut) const override { return shared(cut.core_cycles(), cut); }

  ColumnsTiling best() const override { return with_tile_for_threads({}, &ColumnsTiling::m_tile); }

  Features features_of(const ColumnsCut& cut) const override {
    return {{"flops", flops(task())},
            {"bytes", bytes_moved(task())},
            {"core_cycles", cut.core_cycles()},
            {"iterations", static_cast<double>(cut.parallel_extent())},
            {"balance", parallel_balance(soc(), cut.parallel_extent())}};
  }

  double estimate_of(const ColumnsCut& cut) const override {
    const double memory = whole_lines_ns(soc(), bytes_moved(task()));
    return launch_ns(soc()) + shared(std::max(cycles_ns(cut.core_cycles()), memory), cut);
  }

  Kernel kernel_of(const ColumnsCut& cut) const override {
    return ColumnsNest(task(), cut).build();
  }
};

class FewColumns final : public ImplBy<FewColumnsPlan> {
 public:
  std::string_view name() const override { return "few_columns"; }

  Result<void> supports(const Task& task, const Soc& soc) const override {
    const Result<MatMulShape> shape = dot_product_shape(task);
    if (!shape) return Unexpected(shape.error());
    if (shape->n < 2 || shape->n > std::min<std::int64_t>(kMostColumns, soc.vector_lanes()))
      return Unexpected(std::to_string(shape->n) + " columns, needs 2 to 8");
    const std::int64_t most = kMostVectors / shape->n * soc.vector_lanes();
    if (shape->k < soc.vector_lanes() || shape->k > most)
      return Unexpected("sums of " + std::to_string(shape->k) + " products, needs a vector of " +
                        std::to_string(soc.vector_lanes()) + " and " + std::to_string(most) +
                        " at most");
    if (shape->batch() != 1) return Unexpected("more than one product");
    if (task.inputs[0].constant || !task.inputs[1].constant)
      return Unexpected("needs a constant right factor alone");
    return supports_matrix_epilogue(task, *shape);
  }
};

}  // namespace

void register_few_columns(ImplRegistry& registry) {
  registry.add(std::make_unique<FewColumns>());
}

}  // namespace aoe::compiler
