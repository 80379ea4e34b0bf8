// The loop nest of matrix products: m_block x n_vectors sums in registers, over packed panels of a constant B or over the
// rows of B as they lie in memory.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "compiler/emit/block_loops.h"
#include "compiler/emit/kernel_buffers.h"
#include "compiler/gemm/matmul_shape.h"
#include "compiler/impl.h"

namespace aoe::compiler {

/// A Schedule of `gemm_packed` by name.
struct GemmTiling {
  std::int64_t m_block = 1;    ///< register block: rows
  std::int64_t n_vectors = 1;  ///< register block: vectors of columns; a panel of B is as wide
  std::int64_t k_unroll = 1;   ///< steps written out in the innermost body
  std::int64_t k_block =
      0;  ///< steps per cache tile, 0 = all; partial sums lie in the output between tiles
  std::int64_t m_tile = 1;      ///< row blocks per parallel iteration
  std::int64_t n_tile = 1;      ///< panels per parallel iteration
  std::int64_t rows_outer = 0;  ///< 1: panels vary fastest between parallel iterations
  /// Steps of k that B, and in tiles A as well, is fetched ahead; 0 = leave it to the hardware.
  std::int64_t prefetch = 0;

  /// Fetch the next panel of B while rows pass over this one: 1 into L2, 2 through L1, whence it goes to L2. On a Zen 5
  /// core, weights from memory cost `gemm_strassen` 2 to 4% less with 2, `gemm_packed` up to 1%.
  std::int64_t prefetch_panel = 0;
  /// Parts of the sum that run beside each other, where rows and columns are too few for the threads;
  /// a second stage adds them up.
  std::int64_t k_splits = 1;
  /// Of what `prefetch_panel` asks for; see loopnest::Builder::prefetch().
  int panel_cache_level() const { return prefetch_panel == 2 ? 1 : 2; }
};

/// Sums of so many products of float16 lose little to its 11 bits.
constexpr std::int64_t kFloat16Steps = 128;

/// What the products of float32 are computed in; long sums are float32 always.
enum class GemmPrecision {
  kFloat32,
  kBFloat16,  ///< both factors rounded; one step of k multiplies a pair of neighbours (packed B only)
  kBFloat16Tiles,  ///< the same in tiles, sixteen steps at a time
  /// Products and sums of up to kFloat16Steps steps in float16, two vectors of columns at a time (packed B only); a
  /// cache tile of k is one such block, and adds to the float32 sums in the output.
  kFloat16,
};

/// A matrix product cut up for one tiling.
class GemmCut {
 public:
  GemmCut(const MatMulShape& shape, bool is_b_constant, int lanes, const GemmTiling& tiling,
          GemmPrecision precision = GemmPrecision::kFloat32,
          DataType element_type = DataType::kFloat);
  /// The same product cut up otherwise.
  GemmCut with(const GemmTiling& tiling) const;

  const MatMulShape& shape() const { return shape_; }
  const GemmTiling& tiling() const { return tiling_; }
  /// Of a vector: it holds so many elements.
  int lanes() const { return lanes_; }
  /// Of both factors and the result.
  DataType element_type() const { return element_type_; }
  std::int64_t element_bytes() const {
    return static_cast<std::int64_t>(size_bytes(element_type_));
  }
  bool is_packed() const { return is_packed_; }
  bool is_bf16() const { return precision_ == GemmPrecision::kBFloat16 || has_tiles(); }
  bool has_tiles() const { return precision_ == GemmPrecision::kBFloat16Tiles; }
  /// Both factors in less than float32.
  bool is_rounded() const { return precision_ != GemmPrecision::kFloat32; }
  bool is_fp16() const { return precision_ == GemmPrecision::kFloat16; }
  /// How factors lie that are packed or rounded, and as which lanes they are read.
  loopnest::Elements factors() const;
  loopnest::Type factor_type() const;
  std::int64_t vector_bytes() const { return lanes_ * element_bytes(); }
  /// Those of tiles are whole ones, with zeros behind the last.
  std::int64_t k_steps() const;
  std::int64_t panel_columns() const { return tiling_.n_vectors * lanes_; }
  /// Registers that hold the sums, and the factors, of so many vectors of columns.
  std::int64_t packed_vectors(std::int64_t vectors) const {
    return is_fp16() ? (vectors + 1) / 2 : vectors;
  }
  std::int64_t row_blocks() const;
  std::int64_t panels() const;
  std::int64_t row_tiles() const;
  std::int64_t panel_tiles() const;
  std::int64_t k_per_tile() const { return tiling_.k_block == 0 ? k_steps() : tiling_.k_block; }
  std::int64_t k_tiles() const;
  bool splits_k() const { return tiling_.k_splits > 1; }
  std::int64_t k_per_split() const { return k_steps() / tiling_.k_splits; }
  std::int64_t parallel_extent() const;
  std::int64_t registers() const;
  std::int64_t body_fmas() const;  ///< multiply-adds that the code spells out
  /// See block_cycles.h.
  double core_cycles() const;

 private:
  double tile_cycles() const;

  MatMulShape shape_;
  bool is_packed_;
  int lanes_;
  GemmTiling tiling_;
  GemmPrecision precision_;
  DataType element_type_;
};

/// With kBFloat16 and kFloat16 a first stage rounds A into the workspace. With k_splits the workspace holds the partial sums,
/// [split][batch][row][column].
Kernel build_gemm(const Task& task, const GemmCut& cut);

/// A product that is one stage of a larger kernel, in float32: `declare` declares all buffers of that kernel, whose first
/// constants are the `constants` of the product, and names those that stand for the product's inputs, output and constants.
using DeclareProduct = std::function<KernelBuffers(loopnest::Builder&, std::size_t constants)>;
Kernel build_gemm_stage(const Task& product, const GemmCut& cut, const DeclareProduct& declare);

}  // namespace aoe::compiler
