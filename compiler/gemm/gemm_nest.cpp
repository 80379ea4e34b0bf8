// Writes the loop nest of a matrix product for one GemmCut.
#include "compiler/gemm/gemm_nest.h"

#include <algorithm>

#include "base/check.h"
#include "compiler/emit/element_lanes.h"
#include "compiler/emit/integer_math.h"
#include "compiler/emit/narrow_lanes.h"
#include "compiler/emit/packed_constant.h"
#include "compiler/emit/register_block.h"
#include "compiler/emit/tile_block.h"
#include "compiler/emit/waiting_sums.h"
#include "compiler/gemm/gemm_panels.h"
#include "compiler/gemm/matrix_store.h"

namespace aoe::compiler {
namespace {

constexpr std::int64_t kLineBytes = 64;

/// Rounded factors, which lie in the first constant and in the workspace, are pairs.
KernelBuffers declare_gemm(Builder& builder, const Task& task, const GemmCut& cut,
                           std::size_t constants) {
  std::vector<Elements> types(constants, cut.element_type());
  if (cut.is_rounded()) types.front() = cut.factors();
  return declare_buffers(builder, task, types, cut.is_rounded() || cut.splits_k(),
                         cut.is_rounded() ? cut.factors() : DataType::kFloat);
}

class GemmNest {
 public:
  GemmNest(const Task& task, const GemmCut& cut, const DeclareProduct& declare)
      : task_(task),
        cut_(cut),
        s_(cut.shape()),
        t_(cut.tiling()),
        a_layout_(s_.a),
        type_(lanes_of(cut.element_type())),
        factor_type_(cut.factor_type()),
        factor_lanes_(cut.lanes() * per_word(factor_type_)),
        store_(task, s_, cut.lanes(), type_) {
    if (cut.is_packed()) {
      constants_.push_back(packed_panels(task.inputs[1].constant, cut));
    } else if (task.inputs[1].constant) {
      constants_.push_back(packed_as_is(task.inputs[1].constant));
    }
    if (task.inputs[0].constant) {
      a_constant_ = constants_.size();
      constants_.push_back(packed_as_is(task.inputs[0].constant));
    }
    store_.add_constants(constants_);
    buffers_ = declare(builder_, constants_.size());
    a_ = task.inputs[0].constant ? buffers_.constants[a_constant_] : *buffers_.inputs[0];
    b_ = task.inputs[1].constant ? buffers_.constants[0] : *buffers_.inputs[1];
    if (cut.is_rounded()) {
      a_ = *buffers_.workspace;
      a_layout_.row = cut.k_steps();
    }
    if (cut.has_tiles()) tile_sums_ = builder_.scratch("sums", TileBlock::kSums);
    if (!cut.splits_k() && type_ == Type::kFloat && has_functions(task))
      waiting_.emplace(builder_, t_.m_block * cut.panel_columns() / cut.lanes(), cut.lanes());
  }

  Kernel build() {
    builder_.parallel(cut_.parallel_extent(), [&](Int iteration) { write_iteration(iteration); });
    Kernel kernel = kernel_for("jit");
    if (cut_.is_rounded()) {
      kernel.needs = {cut_.is_fp16() ? Feature::kFp16 : Feature::kBf16};
      if (cut_.has_tiles()) kernel.needs.add(Feature::kAmx);
      kernel.workspace_bytes = static_cast<std::size_t>(s_.m * cut_.k_steps()) * sizeof(float);
      kernel.stages.push_back(round_rows());
    }
    kernel.stages.push_back(builder_.finish());
    if (cut_.splits_k()) {
      kernel.workspace_bytes =
          static_cast<std::size_t>(t_.k_splits * partial_sums()) * sizeof(float);
      kernel.stages.push_back(add_splits());
    }
    kernel.constants = std::move(constants_);
    return kernel;
  }

 private:
  /// What one parallel iteration works on, and which part of the sum a pass over it adds.
  struct Pass {
    Int batch, row_tile, panel_tile;
    Int first_k;
    std::int64_t steps;
    bool is_first, is_last;
    std::optional<Int> split = {};  ///< its partial sums go to the workspace
  };
  struct Block {
    Int row, column;  ///< of the first output
    std::int64_t rows, vectors;
    std::int64_t last_active;  ///< columns that exist in the last vector
    Int number;                ///< among the row blocks that meet the panel one after another
    std::vector<Local> sums;   ///< [row][vector]; in float16 [row][pair of vectors]
  };

  /// A as pairs of bfloat16 in the workspace, row by row; or each element of A as a pair of equal float16.
  loopnest::Function round_rows() const {
    Builder builder("round_rows");
    const KernelBuffers buffers = declare_gemm(builder, task_, cut_, constants_.size());
    const loopnest::Buffer a =
        task_.inputs[0].constant ? buffers.constants[a_constant_] : *buffers.inputs[0];
    const std::int64_t lanes = cut_.lanes();
    if (cut_.is_fp16()) {
      builder.parallel(s_.m, [&](Int row) {
        vector_loop(builder, "k", s_.k, cut_.lanes(), [&](Int k, std::optional<Int> active) {
          const Vec x = builder.load(a, row * s_.a.row + k, cut_.lanes(), active);
          const Vec rounded = twice(convert(x, Type::kFloat16));
          builder.store(*buffers.workspace, row * s_.k + k, rounded, active);
        });
      });
      return builder.finish();
    }
    builder.parallel(s_.m, [&](Int row) {
      const auto write = [&](Int step, std::optional<Int> low, std::optional<Int> high,
                             std::optional<Int> active) {
        const Int from = row * s_.a.row + 2 * step;
        builder.store(*buffers.workspace, row * cut_.k_steps() + step,
                      convert(builder.load(a, from, cut_.lanes(), low),
                              builder.load(a, from + lanes, cut_.lanes(), high), Type::kBfloat16),
                      active);
      };
      const std::int64_t full = s_.k / (2 * lanes) * lanes;
      builder.loop("k", 0, full, lanes, [&](Int step) { write(step, {}, {}, {}); });
      if (const std::int64_t rest = s_.k - 2 * full; rest > 0) {
        write(full, Int(std::min(rest, lanes)), Int(std::max<std::int64_t>(rest - lanes, 0)),
              Int(cut_.k_steps() - full));
      }
    });
    return builder.finish();
  }

  std::int64_t partial_sums() const { return s_.batch() * s_.m * s_.n; }

  /// The second stage of split sums: a row of the output per iteration.
  loopnest::Function add_splits() const {
    Builder builder("add_splits");
    const KernelBuffers buffers = declare_buffers(builder, task_, constants_.size(), true);
    const std::int64_t lanes = cut_.lanes(), full = s_.n / lanes * lanes;
    builder.parallel(s_.batch() * s_.m, [&](Int index) {
      const auto write = [&](Int column, std::optional<Int> active) {
        const MatrixPosition at{index / s_.m, index % s_.m, column, active};
        Vec sum = store_.initial(builder, buffers, at);
        for (std::int64_t split = 0; split < t_.k_splits; ++split) {
          const Int from = split * partial_sums() + index * s_.n + column;
          sum = sum + builder.load(*buffers.workspace, from, cut_.lanes(), active);
        }
        store_.store(builder, buffers, at, sum);
      };
      builder.loop("column", 0, full, lanes, [&](Int column) { write(column, {}); });
      if (full < s_.n) write(Int(full), Int(s_.n - full));
    });
    return builder.finish();
  }

  void write_iteration(Int iteration) {
    const std::int64_t row_tiles = cut_.row_tiles(), panel_tiles = cut_.panel_tiles();
    const Int batch = iteration / (row_tiles * panel_tiles) % s_.batch();
    const Int tile = iteration % (row_tiles * panel_tiles);
    const Int row_tile = t_.rows_outer != 0 ? tile / panel_tiles : tile % row_tiles;
    const Int panel_tile = t_.rows_outer != 0 ? tile % panel_tiles : tile / row_tiles;
    if (cut_.splits_k()) {
      const Int split = iteration / (s_.batch() * row_tiles * panel_tiles);
      const std::int64_t steps = cut_.k_per_split();
      return write_pass({batch, row_tile, panel_tile, split * steps, steps, true, true, split});
    }
    each_k_tile(builder_, cut_.k_steps(), cut_.k_per_tile(),
                [&](Int first_k, std::int64_t steps, bool is_first, bool is_last) {
                  write_pass({batch, row_tile, panel_tile, first_k, steps, is_first, is_last});
                });
  }

  /// Panels outside, row blocks inside: a panel stays in L1 or L2 while the rows of the tile pass over it.
  void write_pass(const Pass& pass) {
    const auto panels = block_runs(s_.n, cut_.panel_columns());
    const auto row_blocks = even_runs(s_.m, t_.m_block);
    each_block(builder_, panels, pass.panel_tile, t_.n_tile, "panel",
               [&](Int column, std::int64_t columns, Int) {
                 const std::int64_t vectors = (columns + cut_.lanes() - 1) / cut_.lanes();
                 const std::int64_t last_active = columns - (vectors - 1) * cut_.lanes();
                 each_block(
                     builder_, row_blocks, pass.row_tile, t_.m_tile, "row",
                     [&](Int row, std::int64_t rows, Int number) {
                       const Block block{row, column, rows, vectors, last_active, number, {}};
                       cut_.has_tiles() ? write_tiles(pass, block) : write_block(pass, block);
                     },
                     [&](std::int64_t rows) {
                       if (cut_.has_tiles()) tiles_of(rows, vectors).set_shapes(builder_);
                     });
               });
  }

  template <typename Visit>
  void for_each_output(const Pass& pass, const Block& block, Visit visit) const {
    for (std::int64_t r = 0; r < block.rows; ++r) {
      for (std::int64_t v = 0; v < block.vectors; ++v) {
        MatrixPosition at{pass.batch, block.row + r, block.column + v * cut_.lanes(), {}};
        if (v + 1 == block.vectors && block.last_active < cut_.lanes()) {
          at.active = Int(block.last_active);
        }
        visit(at);
      }
    }
  }

  void write_block(const Pass& pass, Block block) {
    if (cut_.is_fp16()) {
      for (std::int64_t i = 0; i < block.rows * cut_.packed_vectors(block.vectors); ++i)
        block.sums.push_back(builder_.local(loopnest::splat(0, factor_lanes_, factor_type_)));
    }
    for_each_output(pass, block, [&](const MatrixPosition& at) {
      if (cut_.is_fp16()) return;
      block.sums.push_back(builder_.local(pass.split ? loopnest::splat(0, cut_.lanes(), type_)
                                          : pass.is_first
                                              ? store_.initial(builder_, buffers_, at)
                                              : store_.load_partial(builder_, buffers_, at)));
    });
    const Int a = a_layout_.matrix(pass.batch, s_.batch_dims) + block.row * a_layout_.row;
    const Int b = cut_.is_packed()
                      ? (cut_.is_fp16() ? block.column / 2 : block.column) * cut_.k_steps()
                      : s_.b.matrix(pass.batch, s_.batch_dims) + block.column * s_.b.column;
    const std::int64_t unrolled = pass.steps / t_.k_unroll * t_.k_unroll;
    builder_.loop("k", pass.first_k, pass.first_k + unrolled, t_.k_unroll, [&](Int k) {
      for (std::int64_t u = 0; u < t_.k_unroll; ++u) {
        write_step(block, a + k * a_layout_.column + u * a_layout_.column,
                   b + k * b_stride() + u * b_stride());
      }
      if (t_.prefetch_panel != 0) prefetch_next_panel(pass, block, b, k, unrolled);
    });
    for (std::int64_t k = unrolled; k < pass.steps; ++k) {
      write_step(block, a + (pass.first_k + k) * a_layout_.column,
                 b + (pass.first_k + k) * b_stride());
    }
    store_sums(pass, block);
  }

  static TileBlock tiles_of(std::int64_t rows, std::int64_t vectors) {
    return {rows, vectors, TileBlock::kLanes};
  }

  /// The same in tiles; their sums go through memory.
  void write_tiles(const Pass& pass, const Block& block) {
    const TileBlock tiles = tiles_of(block.rows, block.vectors);
    const Int a = block.row * a_layout_.row, b = block.column * cut_.k_steps();
    tiles.clear(builder_);
    builder_.loop("k", pass.first_k, pass.first_k + pass.steps, t_.k_unroll, [&](Int k) {
      for (std::int64_t u = 0; u < t_.k_unroll; u += TileBlock::kLanes) {
        const Int step = k + u;
        tiles.step(
            builder_,
            [&](std::int64_t row) -> TileBlock::Rows {
              return {a_, a + row * a_layout_.row + step, a_layout_.row, t_.prefetch};
            },
            [&](std::int64_t v) -> TileBlock::Rows {
              return {b_, b + step * b_stride() + v * cut_.lanes(), b_stride(),
                      t_.prefetch * b_stride()};
            });
      }
    });
    tiles.store(builder_, *tile_sums_);
    store_sums(pass, block);
  }

  void store_sums(const Pass& pass, const Block& block) {
    if (waiting_ && pass.is_last && block.rows > 1) return store_waiting(pass, block);
    std::int64_t next = 0;
    for_each_output(pass, block, [&](const MatrixPosition& at) {
      const Vec value = sum_of(pass, block, next++, at);
      if (pass.split) {
        const Int row = (*pass.split * s_.batch() + at.batch) * s_.m + at.row;
        return builder_.store(*buffers_.workspace, row * s_.n + at.column, value, at.active);
      }
      pass.is_last ? store_.store(builder_, buffers_, at, value)
                   : store_.store_partial(builder_, buffers_, at, value);
    });
  }

  void store_waiting(const Pass& pass, const Block& block) {
    std::int64_t next = 0;
    for_each_output(pass, block, [&](const MatrixPosition& at) {
      waiting_->put(next, sum_of(pass, block, next, at));
      ++next;
    });
    builder_.loop("waiting_row", 0, block.rows, 1, [&](Int row) {
      Block of_row = block;
      of_row.row = block.row + row;
      of_row.rows = 1;
      std::int64_t v = 0;
      for_each_output(pass, of_row, [&](const MatrixPosition& at) {
        store_.store(builder_, buffers_, at, waiting_->get(row * block.vectors + v++));
      });
    });
  }

  /// Output `number` of the block, after the pass.
  Vec sum_of(const Pass& pass, const Block& block, std::int64_t number, const MatrixPosition& at) {
    if (!cut_.is_fp16() && !cut_.has_tiles())
      return builder_.get(block.sums[static_cast<std::size_t>(number)]);
    const std::int64_t row = number / block.vectors, v = number % block.vectors;
    const Vec before = pass.is_first ? store_.initial(builder_, buffers_, at)
                                     : store_.load_partial(builder_, buffers_, at);
    if (cut_.has_tiles())
      return before + builder_.load(*tile_sums_, row * TileBlock::kSumsStride + v * cut_.lanes(),
                                    cut_.lanes());
    const std::int64_t pair = row * cut_.packed_vectors(block.vectors) + v / 2;
    const Vec sums = builder_.get(block.sums[static_cast<std::size_t>(pair)]);
    return before + convert(every_second(sums, v % 2), Type::kFloat);
  }

  /// Row block n fetches the n-th part of the panel behind this one, a row of it per unrolled step.
  void prefetch_next_panel(const Pass& pass, const Block& block, Int b, Int k, std::int64_t steps) {
    const std::int64_t rows = steps / t_.k_unroll;
    const Int row = pass.first_k + block.number * rows + (k - pass.first_k) / t_.k_unroll;
    const Int next = b + cut_.k_steps() * b_stride() + row * b_stride();
    const std::int64_t line = kLineBytes / cut_.element_bytes();
    for (std::int64_t column = 0; column < b_stride(); column += line) {
      builder_.prefetch(b_, next + column, t_.panel_cache_level());
    }
  }

  /// Elements between the steps of k in B.
  std::int64_t b_stride() const {
    if (cut_.is_fp16()) return cut_.panel_columns() / 2;
    return cut_.is_packed() ? cut_.panel_columns() : s_.b.row;
  }

  /// One step of k: a vector of B per column vector, one broadcast element of A per row.
  void write_step(Block& block, Int a, Int b) {
    const std::int64_t lanes = cut_.lanes(), line = kLineBytes / cut_.element_bytes();
    const RegisterBlock products{.rows = block.rows,
                                 .vectors = cut_.packed_vectors(block.vectors),
                                 .sums = block.sums,
                                 .multiply_add = cut_.is_bf16() ? loopnest::dot : loopnest::fma};
    products.step(
        builder_,
        [&](std::int64_t v) {
          const Int at = b + v * lanes;
          const bool is_last = v + 1 == block.vectors && block.last_active < lanes;
          const Local column = builder_.local(builder_.load_as(
              factor_type_, b_, at, factor_lanes_,
              !cut_.is_packed() && is_last ? std::optional(Int(block.last_active)) : std::nullopt));
          if (t_.prefetch != 0 && v * lanes % line == 0)
            builder_.prefetch(b_, at + t_.prefetch * b_stride());
          return column;
        },
        [&](std::int64_t r) {
          return builder_.local(
              builder_.load_as(factor_type_, a_, a + r * a_layout_.row, factor_lanes_, {}, 0));
        });
  }

  const Task& task_;
  const GemmCut& cut_;
  const MatMulShape& s_;
  const GemmTiling& t_;
  MatrixLayout a_layout_;  ///< of A as the products read it, its columns counted in steps of k
  Type type_;              ///< of sums
  Type factor_type_;       ///< of factors as they are read
  int factor_lanes_;       ///< of them in a vector
  MatrixStore store_;
  Builder builder_{"gemm_packed"};
  std::vector<PackedConstant> constants_;
  std::size_t a_constant_ = 0;
  KernelBuffers buffers_;
  loopnest::Buffer a_{}, b_{};
  std::optional<loopnest::Buffer> tile_sums_;
  std::optional<WaitingSums> waiting_;
};

}  // namespace

Kernel build_gemm(const Task& task, const GemmCut& cut) {
  return GemmNest(task, cut,
                  [&](Builder& builder, std::size_t constants) {
                    return declare_gemm(builder, task, cut, constants);
                  })
      .build();
}

Kernel build_gemm_stage(const Task& product, const GemmCut& cut, const DeclareProduct& declare) {
  AOE_CHECK(!cut.is_rounded(), "a stage's factors are float32");
  AOE_CHECK(!cut.splits_k(), "a stage is one stage");
  return GemmNest(product, cut, declare).build();
}

}  // namespace aoe::compiler
