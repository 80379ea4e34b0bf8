// The arithmetic of a matrix product's tiling.
#include <algorithm>

#include "compiler/emit/block_cycles.h"
#include "compiler/emit/element_lanes.h"
#include "compiler/emit/integer_math.h"
#include "compiler/emit/tile_block.h"
#include "compiler/gemm/gemm_nest.h"

namespace aoe::compiler {

GemmCut::GemmCut(const MatMulShape& shape, bool is_b_constant, int lanes, const GemmTiling& tiling,
                 GemmPrecision precision, DataType element_type)
    : shape_(shape),
      is_packed_(is_b_constant && shape.is_b_shared()),
      lanes_(lanes),
      tiling_(tiling),
      precision_(precision),
      element_type_(element_type) {
}

GemmCut GemmCut::with(const GemmTiling& tiling) const {
  GemmCut cut = *this;
  cut.tiling_ = tiling;
  return cut;
}

loopnest::Elements GemmCut::factors() const {
  if (is_fp16()) return words_of(DataType::kFloat16);
  return is_bf16() ? words_of(DataType::kBFloat16) : loopnest::Elements(element_type());
}

loopnest::Type GemmCut::factor_type() const {
  return is_rounded() ? loopnest::narrow_type(factors().dtype) : lanes_of(element_type());
}

std::int64_t GemmCut::k_steps() const {
  const std::int64_t steps = is_bf16() ? (shape_.k + 1) / 2 : shape_.k;
  return has_tiles() ? round_up(steps, TileBlock::kLanes) : steps;
}

std::int64_t GemmCut::row_blocks() const {
  return ceil_div(shape_.m, tiling_.m_block);
}
std::int64_t GemmCut::panels() const {
  return ceil_div(shape_.n, panel_columns());
}
std::int64_t GemmCut::row_tiles() const {
  return ceil_div(row_blocks(), tiling_.m_tile);
}
std::int64_t GemmCut::panel_tiles() const {
  return ceil_div(panels(), tiling_.n_tile);
}
std::int64_t GemmCut::k_tiles() const {
  return ceil_div(k_steps(), k_per_tile());
}

std::int64_t GemmCut::parallel_extent() const {
  return tiling_.k_splits * shape_.batch() * row_tiles() * panel_tiles();
}

std::int64_t GemmCut::registers() const {
  if (has_tiles()) return 1;
  const std::int64_t vectors = packed_vectors(tiling_.n_vectors);
  return tiling_.m_block * vectors + factor_registers(vectors, vector_bytes());
}

std::int64_t GemmCut::body_fmas() const {
  std::int64_t fmas = 0;
  for (const BlockRun& rows : even_runs(shape_.m, tiling_.m_block)) {
    for (const BlockRun& columns : block_runs(shape_.n, panel_columns())) {
      fmas += rows.size * packed_vectors(ceil_div(columns.size, lanes_)) * tiling_.k_unroll;
    }
  }
  return fmas * std::min<std::int64_t>(k_tiles(), 3);
}

double GemmCut::core_cycles() const {
  if (has_tiles()) return tile_cycles();
  double cycles = 0;
  for (const BlockRun& rows : even_runs(shape_.m, tiling_.m_block)) {
    for (const BlockRun& columns : block_runs(shape_.n, panel_columns())) {
      const auto m = static_cast<double>(rows.size);
      const auto vectors = static_cast<double>(packed_vectors(ceil_div(columns.size, lanes_)));
      const auto blocks = static_cast<double>(rows.count * columns.count);
      cycles += blocks * block_cycles(vector_bytes(), m * vectors, m, vectors, 1);
      // Each tile widens its sums and adds them to those in the output: four operations a vector.
      if (is_fp16()) cycles += blocks * 8 * m * vectors / static_cast<double>(k_per_tile());
    }
  }
  return cycles * static_cast<double>(k_steps() * shape_.batch());
}

double GemmCut::tile_cycles() const {
  constexpr double kStoreCycles = 3;  // of a vector of sums, through memory
  double cycles = 0;
  for (const BlockRun& rows : even_runs(shape_.m, tiling_.m_block)) {
    for (const BlockRun& columns : block_runs(shape_.n, panel_columns())) {
      const std::int64_t vectors = ceil_div(columns.size, lanes_);
      const TileBlock block(rows.size, vectors, TileBlock::kLanes);
      const auto steps = static_cast<double>(k_steps()) / TileBlock::kLanes;
      cycles += static_cast<double>(rows.count * columns.count) *
                (block.step_cycles() * steps +
                 kStoreCycles * static_cast<double>(rows.size * vectors * k_tiles()));
    }
  }
  return cycles;
}

}  // namespace aoe::compiler
