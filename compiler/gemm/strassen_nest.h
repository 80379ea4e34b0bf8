// The loop nest of Strassen's matrix product (Strassen, "Gaussian Elimination is not Optimal", 1969), one level of it: both
// factors are cut into 2 x 2 blocks, whose product takes seven products of blocks instead of eight. The sums of blocks of a
// constant B are made when it is packed, so that B takes 7/4 of its memory; those of A are a first stage; what the seven
// products add to the four blocks of C is added a panel of columns at a time, in cache, after Huang et al., "Strassen's
// Algorithm Reloaded", SC16.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "compiler/emit/kernel_buffers.h"
#include "compiler/gemm/gemm_nest.h"
#include "compiler/gemm/matmul_shape.h"
#include "compiler/impl.h"

namespace aoe::compiler {

inline constexpr std::int64_t kStrassenProducts = 7;

/// A product cut up for one tiling. Rows, columns and steps of the halves are rounded up, columns and steps to whole
/// vectors; what the second halves lack counts as zeros.
class StrassenCut {
 public:
  /// Of a GemmTiling, `m_block`, `n_vectors`, `k_unroll`, `prefetch_panel`, `n_tile` (a divisor of the panels) and
  /// `k_block` (a divisor of the steps, of whole vectors) count.
  StrassenCut(const MatMulShape& shape, int lanes, const GemmTiling& tiling);

  const MatMulShape& shape() const { return shape_; }
  /// One of the seven products.
  const GemmCut& half() const { return half_; }
  const GemmTiling& tiling() const { return half_.tiling(); }
  int lanes() const { return half_.lanes(); }
  std::int64_t half_m() const { return half_.shape().m; }
  std::int64_t half_n() const { return half_.shape().n; }
  std::int64_t half_k() const { return half_.shape().k; }
  /// In the second halves.
  std::int64_t rows_left() const { return shape_.m - half_m(); }
  std::int64_t columns_left() const { return shape_.n - half_n(); }
  std::int64_t steps_left() const { return shape_.k - half_k(); }
  std::int64_t k_per_tile() const { return half_.k_per_tile(); }
  /// Elements: the sums of A, [tile of k][product][row][step]; those of B, [tile of panels][tile of k][product][panel][step]
  /// [column]; the blocks of C that belong to one tile of panels, [block][panel][row][column].
  std::int64_t a_elements() const { return kStrassenProducts * half_m() * half_k(); }
  std::int64_t b_elements() const;
  std::int64_t c_elements() const { return 4 * half_m() * tiling().n_tile * half_.panel_columns(); }
  std::int64_t parallel_extent() const { return half_.panel_tiles(); }
  std::int64_t body_fmas() const { return kStrassenProducts * half_.body_fmas(); }
  /// See block_cycles.h; the sums included.
  double core_cycles() const;

 private:
  MatMulShape shape_;
  GemmCut half_;
};

/// Where the elements of a product lie: how the nest reads A and B and stores C.
class StrassenOperands {
 public:
  virtual ~StrassenOperands() = default;
  /// Where A's element (row, k) lies; `k` is a multiple of the lanes, and its vector lies behind it.
  virtual loopnest::Int a_index(loopnest::Int row, loopnest::Int k) const = 0;
  /// Lanes of A beyond the last step are zeros in memory and need no mask.
  virtual bool is_a_padded() const = 0;
  virtual float b_at(std::int64_t k, std::int64_t column) const = 0;
  /// Appends the constants of bias and epilogue.
  virtual void add_constants(std::vector<PackedConstant>& constants) = 0;
  /// Adds the bias, applies the epilogue and stores; `active`: only so many of the columns exist.
  virtual void store(loopnest::Builder& builder, const KernelBuffers& buffers, loopnest::Int row,
                     loopnest::Int column, std::optional<loopnest::Int> active,
                     loopnest::Vec value) const = 0;
};

/// `operands` lives as long as the kernel.
Kernel build_strassen(const Task& task, const StrassenCut& cut,
                      const std::shared_ptr<StrassenOperands>& operands);

}  // namespace aoe::compiler
