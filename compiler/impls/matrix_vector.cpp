// matrix_vector: MatMulV2 and Gemm whose second factor is one column: dot products. Lanes run along the sums, of as many rows side
// by side as there are lanes; their lanes are added up together, and are neighbours of the output then. (In a register block of a
// matrix product one column leaves all lanes but one empty.)
#include <algorithm>

#include "compiler/emit/block_loops.h"
#include "compiler/emit/integer_math.h"
#include "compiler/emit/lane_folds.h"
#include "compiler/emit/packed_constant.h"
#include "compiler/gemm/dot_products.h"
#include "compiler/gemm/matrix_store.h"
#include "compiler/tiled_plan.h"

namespace aoe::compiler {
namespace {

struct VectorTiling {
  std::int64_t m_block = 1;   ///< rows side by side
  std::int64_t k_unroll = 1;  ///< sums of each row
  std::int64_t m_tile = 1;    ///< blocks of rows per parallel iteration
};

class VectorCut {
 public:
  VectorCut(const MatMulShape& shape, int lanes, const VectorTiling& tiling)
      : shape_(shape), lanes_(lanes), tiling_(tiling) {}

  VectorCut with(const VectorTiling& tiling) const { return VectorCut(shape_, lanes_, tiling); }

  const MatMulShape& shape() const { return shape_; }
  const VectorTiling& tiling() const { return tiling_; }
  int lanes() const { return lanes_; }
  std::int64_t row_blocks() const { return ceil_div(shape_.m, tiling_.m_block); }
  std::int64_t row_tiles() const { return ceil_div(row_blocks(), tiling_.m_tile); }
  std::int64_t parallel_extent() const { return shape_.batch() * row_tiles(); }
  /// Their vectors stay in registers while rows pass by.
  bool has_short_rows() const { return shape_.k <= 8 * lanes_; }
  std::int64_t sums() const { return tiling_.m_block * tiling_.k_unroll; }

  double core_cycles() const {
    constexpr double kLatency = 4;
    const auto vectors = static_cast<double>(ceil_div(shape_.k, lanes_));
    if (has_short_rows()) {  // which do not wait for each other
      constexpr double kFoldRow = 5, kBlock = 2;
      return static_cast<double>(shape_.batch() * row_blocks()) *
             (static_cast<double>(tiling_.m_block) * (vectors + kFoldRow) + kBlock);
    }
    const double step = std::max(1.0, kLatency / static_cast<double>(sums()));
    // Adding up the lanes of a block takes as long for one row as for a vector of them.
    const double fold = 3.0 * lanes_, unfold = 2.0 * static_cast<double>(sums());
    const auto blocks = static_cast<double>(shape_.batch() * row_blocks());
    return blocks * (static_cast<double>(tiling_.m_block) * vectors * step + fold + unfold);
  }

  std::int64_t matrix_bytes() const {
    return shape_.batch() * shape_.m * shape_.k * std::int64_t{sizeof(float)};
  }

  /// What waiting for memory adds where each instruction reads every m_block-th row: prefetchers follow it in small steps alone. 100000 rows
  /// of 64 by a column take 0.5 ms in blocks of one or two rows and 2.0 in blocks of 16, 100000 rows of 128 1.3 and 4.4 (Zen 4).
  double far_cycles() const {
    constexpr std::int64_t kLine = 64, kFarBytes = 512;
    constexpr double kLineCycles = 14;
    if (!has_short_rows() ||
        tiling_.m_block * shape_.a.row * std::int64_t{sizeof(float)} <= kFarBytes)
      return 0;
    return kLineCycles * (static_cast<double>(matrix_bytes()) / kLine);
  }

 private:
  MatMulShape shape_;
  int lanes_;
  VectorTiling tiling_;
};

/// The task whose output is a row, as what lies behind each of its operands does not change: lanes run along what were rows.
Task as_row(const Task& task, const MatMulShape& shape) {
  Task row = task;
  const bool is_folded = shape.batch_dims.size() + 2 != task.out().shape.size();
  const auto turn = [&](Shape& dims) {
    const std::int64_t count = element_count(dims);
    if (is_folded) dims = count == 1 ? Shape{1} : Shape{1, count};
    if (!is_folded && dims.size() > 1) std::swap(dims[dims.size() - 2], dims.back());
  };
  for (TensorDesc& out : row.outputs) turn(out.shape);
  for (std::size_t i = 2; i < row.inputs.size(); ++i)
    if (row.inputs[i].is_present()) turn(row.inputs[i].desc.shape);
  return row;
}

MatMulShape row_shape(MatMulShape shape) {
  std::swap(shape.m, shape.n);
  return shape;
}

class VectorNest {
 public:
  VectorNest(const Task& task, const VectorCut& cut)
      : task_(task),
        cut_(cut),
        s_(cut.shape()),
        t_(cut.tiling()),
        store_(as_row(task, s_), row_shape(s_), cut.lanes()) {}

  Kernel build() {
    std::vector<PackedConstant> constants;
    for (std::size_t i = 0; i < 2; ++i)
      if (task_.inputs[i].constant) constants.push_back(packed_as_is(task_.inputs[i].constant));
    store_.add_constants(constants);
    Builder builder("matrix_vector");
    buffers_ = declare_buffers(builder, task_, constants.size(), false);
    std::size_t constant = 0;
    for (std::size_t i = 0; i < 2; ++i)
      if (task_.inputs[i].constant) buffers_.inputs[i] = buffers_.constants[constant++];
    builder.parallel(cut_.parallel_extent(), [&](Int p) {
      const Int batch = p / cut_.row_tiles(), tile = p % cut_.row_tiles();
      each_block(builder, block_runs(s_.m, t_.m_block), tile, t_.m_tile, "row",
                 [&](Int row, std::int64_t rows, Int) { write_block(builder, batch, row, rows); });
    });
    return jit_kernel(builder.finish(), std::move(constants));
  }

 private:
  void write_block(Builder& builder, Int batch, Int row, std::int64_t rows) const {
    const Int a = s_.a.matrix(batch, s_.batch_dims) + row * s_.a.row;
    const Int b = s_.b.matrix(batch, s_.batch_dims);
    const MatrixPosition at{batch, Int(0), row, {}};
    if (cut_.has_short_rows()) return store(builder, at, short_rows(builder, a, b, rows));
    std::vector<Local> sums;  // [step][row]
    for (std::int64_t i = 0; i < rows * t_.k_unroll; ++i)
      sums.push_back(builder.local(loopnest::splat(0, cut_.lanes())));
    const auto step = [&](Int k, std::int64_t number, std::optional<Int> active) {
      const Vec x = factor(builder, 1, b + k, active);
      for (std::int64_t r = 0; r < rows; ++r) {
        const Local& sum = sums[static_cast<std::size_t>(number * rows + r)];
        const Vec y = builder.load(*buffers_.inputs[0], a + r * s_.a.row + k, cut_.lanes(), active);
        builder.assign(sum, fma(y, x, builder.get(sum)));
      }
    };
    const std::int64_t lanes = cut_.lanes(), group = lanes * t_.k_unroll;
    const std::int64_t grouped = s_.k / group * group;
    builder.loop("k", 0, grouped, group, [&](Int k) {
      for (std::int64_t u = 0; u < t_.k_unroll; ++u) step(k + u * lanes, u, {});
    });
    for (std::int64_t k = grouped; k < s_.k; k += lanes)
      step(Int(k), (k - grouped) / lanes, active_behind(k));
    std::vector<Vec> totals;
    for (std::int64_t r = 0; r < rows; ++r) {
      Vec total = builder.get(sums[static_cast<std::size_t>(r)]);
      for (std::int64_t u = 1; u < t_.k_unroll; ++u)
        total = total + builder.get(sums[static_cast<std::size_t>(u * rows + r)]);
      totals.push_back(builder.get(builder.local(total)));
    }
    store(builder, at, std::move(totals));
  }

  /// Row after row, in the order in which memory is read.
  std::vector<Vec> short_rows(Builder& builder, Int a, Int b, std::int64_t rows) const {
    std::vector<Vec> x, totals;
    for (std::int64_t k = 0; k < s_.k; k += cut_.lanes())
      x.push_back(factor(builder, 1, b + k, active_behind(k)));
    for (std::int64_t r = 0; r < rows; ++r)
      totals.push_back(sum_of_products(builder, std::ssize(x), [&](std::int64_t i) {
        const std::int64_t k = i * cut_.lanes();
        return std::pair(factor(builder, 0, a + r * s_.a.row + k, active_behind(k)),
                         x[static_cast<std::size_t>(i)]);
      }));
    return totals;
  }

  std::optional<Int> active_behind(std::int64_t k) const {
    return s_.k - k < cut_.lanes() ? std::optional(Int(s_.k - k)) : std::nullopt;
  }

  Vec factor(Builder& builder, std::size_t i, Int at, std::optional<Int> active) const {
    return builder.get(builder.local(builder.load(*buffers_.inputs[i], at, cut_.lanes(), active)));
  }

  void store(Builder& builder, MatrixPosition at, std::vector<Vec> totals) const {
    const auto rows = static_cast<std::int64_t>(totals.size());
    if (rows < cut_.lanes()) at.active = Int(rows);
    Vec result = fold_lanes(builder, std::move(totals), loopnest::add);
    if (s_.alpha != 1.0f) result = result * loopnest::splat(s_.alpha, cut_.lanes());
    store_.store(builder, buffers_, at, result + store_.initial(builder, buffers_, at));
  }

  const Task& task_;
  const VectorCut& cut_;
  const MatMulShape& s_;
  const VectorTiling& t_;
  MatrixStore store_;
  KernelBuffers buffers_;
};

TilingAxes<VectorTiling> vector_axes(const VectorCut& any, const Soc&) {
  using T = VectorTiling;
  const std::int64_t rows = any.shape().m;
  return {{"m_block", &T::m_block, powers_of_two(std::min<std::int64_t>(any.lanes(), rows))},
          {"k_unroll", &T::k_unroll, {1, 2, 4}},
          {"m_tile", &T::m_tile, powers_of_two(std::min<std::int64_t>(64, rows))}};
}

class MatrixVectorPlan final : public RetiledPlan<VectorTiling, VectorCut> {
 public:
  MatrixVectorPlan(const Task& task, const FormatChoice& format, const Soc& soc)
      : RetiledPlan(task, format, soc,
                    VectorCut(matmul_shape(task).value(), soc.vector_lanes(), {}), vector_axes) {}

 private:
  using T = VectorTiling;

  bool fits(const VectorCut& cut) const override {
    const T& t = cut.tiling();
    return cut.sums() + 2 <= soc().vector_registers() && t.m_tile <= cut.row_blocks() &&
           (t.k_unroll == 1 ||
            (!cut.has_short_rows() && t.k_unroll * cut.lanes() <= cut.shape().k));
  }

  double cycles(const VectorCut& cut) const override { return shared(all_cycles(cut), cut); }

  double all_cycles(const VectorCut& cut) const {
    constexpr std::int64_t kNear =
        4;  // times the second-level cache: the next one has it soon enough
    const bool is_far = cut.matrix_bytes() > kNear * soc().l2_bytes;
    return cut.core_cycles() + (is_far ? cut.far_cycles() : 0);
  }

  T best() const override {
    const T best = fewest_cycles(tilings().all({}, {&T::m_block, &T::k_unroll}));
    return with_tile_for_threads(best, &T::m_tile);
  }

  Features features_of(const VectorCut& cut) const override {
    return {{"flops", flops(task())},
            {"bytes", bytes_moved(task())},
            {"core_cycles", cut.core_cycles()},
            {"accumulators", static_cast<double>(cut.sums())},
            {"iterations", static_cast<double>(cut.parallel_extent())},
            {"balance", parallel_balance(soc(), cut.parallel_extent())}};
  }

  double estimate_of(const VectorCut& cut) const override {
    const double memory = whole_lines_ns(soc(), bytes_moved(task()));
    return launch_ns(soc()) + shared(std::max(cycles_ns(all_cycles(cut)), memory), cut);
  }

  Kernel kernel_of(const VectorCut& cut) const override { return VectorNest(task(), cut).build(); }
};

class MatrixVector final : public ImplBy<MatrixVectorPlan> {
 public:
  std::string_view name() const override { return "matrix_vector"; }

  Result<void> supports(const Task& task, const Soc&) const override {
    const Result<MatMulShape> shape = dot_product_shape(task);
    if (!shape) return Unexpected(shape.error());
    if (shape->n != 1) return Unexpected(std::to_string(shape->n) + " columns, needs 1");
    if (shape->k == 1) return Unexpected("sums of one product");
    return supports_matrix_epilogue(task, *shape);
  }
};

}  // namespace

void register_matrix_vector(ImplRegistry& registry) {
  registry.add(std::make_unique<MatrixVector>());
}

}  // namespace aoe::compiler
