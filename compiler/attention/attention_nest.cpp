// Writes the loop nest of attention for one AttentionCut.
#include "compiler/attention/attention_nest.h"

#include <algorithm>
#include <limits>

#include "compiler/emit/block_loops.h"
#include "compiler/emit/integer_math.h"
#include "compiler/emit/kernel_buffers.h"
#include "compiler/emit/packed_constant.h"
#include "compiler/emit/register_block.h"

namespace aoe::compiler {
namespace {

using reference::MaskMode;
using reference::MatrixView;

constexpr float kLowest = std::numeric_limits<float>::lowest();

class AttentionNest {
 public:
  AttentionNest(const Task& task, const AttentionCut& cut)
      : cut_(cut), s_(cut.shape()), t_(cut.tiling()), lanes_(cut.lanes()) {
    std::vector<std::size_t> place(task.inputs.size());
    for (std::size_t i = 0; i < task.inputs.size(); ++i) {
      if (!task.inputs[i].constant) continue;
      place[i] = constants_.size();
      constants_.push_back(packed_as_is(task.inputs[i].constant));
    }
    const KernelBuffers buffers = declare_buffers(builder_, task, constants_.size(), false);
    const auto input = [&](std::size_t i) {
      return task.inputs[i].constant ? buffers.constants[place[i]] : *buffers.inputs[i];
    };
    query_ = {input(0), s_.query};
    key_ = {input(1), s_.key};
    value_ = {input(2), s_.value};
    if (has_mask(task)) mask_ = {input(3), s_.mask};
    output_ = {buffers.outputs[0], s_.output};
    queries_ = builder_.scratch("queries", padded(s_.depth) * cut.tile_rows());
    scores_ = builder_.scratch("scores", padded(cut.keys_per_block()) * cut.tile_rows());
    factors_ = builder_.scratch("factors", cut.tile_rows());
    inverses_ = builder_.scratch("inverses", cut.tile_rows());
  }

  Kernel build() {
    builder_.parallel(cut_.parallel_extent(), [&](Int iteration) { write_iteration(iteration); });
    return jit_kernel(builder_.finish(), std::move(constants_));
  }

 private:
  /// The matrices of all batches in one buffer.
  struct Matrices {
    Buffer buffer{};
    MatrixView view;
  };
  /// Neighbouring queries of one batch.
  struct Tile {
    Int batch, first_row;
    std::int64_t rows;
    std::int64_t vectors;
    std::vector<Local> maxima = {}, sums = {};  ///< of the scores so far, by vector
  };
  struct KeyBlock {
    Int begin, end;
  };

  std::int64_t padded(std::int64_t columns) const { return round_up(columns, lanes_); }
  std::int64_t width() const { return cut_.tile_rows(); }

  Int element(const Matrices& m, Int batch, Int row, Int column) const {
    return element_of(s_, m.view, batch, row, column);
  }

  Int score_at(const KeyBlock& block, Int key, Int row) const {
    return (key - block.begin) * width() + row;
  }

  Vec splat(float value) const { return loopnest::splat(value, lanes_); }

  /// Rows of the tile that a vector holds; nothing when it is full.
  std::optional<Int> active_rows(const Tile& tile, std::int64_t vector) const {
    const std::int64_t left = tile.rows - vector * lanes_;
    return left < lanes_ ? std::optional<Int>(Int(left)) : std::nullopt;
  }

  void write_iteration(Int iteration) {
    const Int batch = iteration / cut_.tiles(), tile = iteration % cut_.tiles();
    const auto write = [&](std::int64_t rows) {
      write_tile({batch, tile * width(), rows, ceil_div(rows, lanes_)});
    };
    if (cut_.rest_rows() == 0) return write(width());
    if (cut_.full_tiles() == 0) return write(cut_.rest_rows());
    builder_.if_(
        tile < cut_.full_tiles(), [&] { write(width()); }, [&] { write(cut_.rest_rows()); });
  }

  void write_tile(Tile tile) {
    write_transposed(tile, query_, {0, s_.depth}, queries_, s_.scale);
    for (std::int64_t v = 0; v < tile.vectors; ++v) {
      // Not -inf: then a block of masked keys alone would give -inf - -inf.
      tile.maxima.push_back(builder_.local(splat(kLowest)));
      tile.sums.push_back(builder_.local(splat(0)));
    }
    const std::int64_t step = cut_.keys_per_block();
    if (cut_.blocks() == 1) return write_block(tile, {0, s_.keys});
    builder_.loop("block", 0, s_.keys, step, [&](Int begin) {
      write_block(tile, {begin, min(begin + step, Int(s_.keys))});
    });
  }

  void write_block(const Tile& tile, const KeyBlock& block) {
    std::vector<Local> previous;
    for (const Local& largest : tile.maxima)
      previous.push_back(builder_.local(builder_.get(largest)));
    if (mask_ && mask_->view.row != 0) write_transposed(tile, *mask_, block, scores_, 1);
    write_scores(tile, block);
    if (cut_.blocks() > 1) write_rescaling(tile, previous);
    write_weights(tile, block);
    for (const BlockRun& columns : block_runs(s_.value_depth, t_.v_vectors * lanes_)) {
      const std::int64_t vectors = ceil_div(columns.size, lanes_);
      const std::int64_t last_active = columns.size - (vectors - 1) * lanes_;
      for_each_run(columns, "column", [&](Int column) {
        for (const BlockRun& rows : even_runs(tile.rows, t_.row_group)) {
          for_each_run(rows, "row", [&](Int row) {
            write_products(tile, block, {row, column, rows.size, vectors, last_active});
          });
        }
      });
    }
  }

  void for_each_run(const BlockRun& run, const std::string& name,
                    const std::function<void(Int)>& body) {
    builder_.loop(name, run.first, run.first + run.size * run.count, run.size, body);
  }

  /// Columns [begin, end) of the tile's rows, a vector of rows for each column, times `scale`.
  void write_transposed(const Tile& tile, const Matrices& from, const KeyBlock& columns, Buffer to,
                        float scale) {
    const auto store = [&](Int column, std::int64_t v, Vec value) {
      if (scale != 1) value = value * splat(scale);
      builder_.store(to, (column - columns.begin) * width() + v * lanes_, value);
    };
    for (std::int64_t v = 0; v < tile.vectors; ++v) {
      const Int row = tile.first_row + v * lanes_;
      if (from.view.column != 1) {
        builder_.loop("column", columns.begin, columns.end, 1, [&](Int column) {
          store(column, v,
                builder_.load(from.buffer, element(from, tile.batch, row, column), lanes_,
                              active_rows(tile, v), from.view.row));
        });
        continue;
      }
      builder_.loop("column", columns.begin, columns.end, lanes_, [&](Int column) {
        const Int active = min(Int(lanes_), columns.end - column);
        const std::int64_t rows = std::min<std::int64_t>(lanes_, tile.rows - v * lanes_);
        std::vector<Vec> block;
        for (std::int64_t r = 0; r < lanes_; ++r) {
          block.push_back(r < rows ? builder_.get(builder_.local(builder_.load(
                                         from.buffer, element(from, tile.batch, row + r, column),
                                         lanes_, active)))
                                   : splat(0));
        }
        for (int c = 0; c < lanes_; ++c) store(column + c, v, transpose_row(block, c));
      });
    }
  }

  /// Calls body(first key, number of keys) for groups of keys, the number being a constant.
  void for_each_group(const KeyBlock& block, const std::function<void(Int, std::int64_t)>& body) {
    const std::int64_t tail = s_.keys % t_.key_group, full = s_.keys - tail;
    builder_.loop("key", block.begin, min(block.end, Int(full)), t_.key_group,
                  [&](Int key) { body(key, t_.key_group); });
    if (tail > 0) builder_.if_(block.end == s_.keys, [&] { body(full, tail); });
  }

  void write_scores(const Tile& tile, const KeyBlock& block) {
    for_each_group(block, [&](Int key, std::int64_t keys) {
      std::vector<Local> sums;
      for (std::int64_t i = 0; i < keys * tile.vectors; ++i)
        sums.push_back(builder_.local(splat(0)));
      const std::int64_t unrolled = s_.depth / t_.depth_unroll * t_.depth_unroll;
      builder_.loop("depth", 0, unrolled, t_.depth_unroll, [&](Int depth) {
        for (std::int64_t u = 0; u < t_.depth_unroll; ++u)
          write_score_step(tile, key, keys, depth + u, sums);
      });
      builder_.loop("depth", unrolled, s_.depth, 1,
                    [&](Int depth) { write_score_step(tile, key, keys, depth, sums); });
      for (std::int64_t k = 0; k < keys; ++k) {
        for (std::int64_t v = 0; v < tile.vectors; ++v) {
          const Int place = score_at(block, key + k, v * lanes_);
          const Vec sum = builder_.get(sums[static_cast<std::size_t>(k * tile.vectors + v)]);
          const Vec score = builder_.get(builder_.local(masked(tile, key + k, place, sum)));
          builder_.store(scores_, place, score);
          const Local& largest = tile.maxima[static_cast<std::size_t>(v)];
          builder_.assign(largest, max(builder_.get(largest), score));
        }
      }
    });
  }

  void write_score_step(const Tile& tile, Int key, std::int64_t keys, Int depth,
                        const std::vector<Local>& sums) {
    const RegisterBlock scores{.rows = keys, .vectors = tile.vectors, .sums = sums};
    scores.step(
        builder_,
        [&](std::int64_t v) {
          return builder_.local(builder_.load(queries_, depth * width() + v * lanes_, lanes_));
        },
        [&](std::int64_t k) {
          return builder_.local(builder_.load_broadcast(
              key_.buffer, element(key_, tile.batch, key + k, depth), lanes_));
        });
  }

  Vec masked(const Tile& tile, Int key, Int place, Vec score) {
    if (!mask_) return score;
    const Vec mask =
        mask_->view.row != 0
            ? builder_.load(scores_, place, lanes_)  // write_transposed() put it there
            : builder_.load_broadcast(mask_->buffer, element(*mask_, tile.batch, 0, key), lanes_);
    return s_.mask_mode == MaskMode::kAdd ? score + mask : min(score, mask);
  }

  /// Scores become exp(score - maximum).
  void write_weights(const Tile& tile, const KeyBlock& block) {
    builder_.loop("key", block.begin, block.end, 1, [&](Int key) {
      for (std::int64_t v = 0; v < tile.vectors; ++v) {
        const auto at = static_cast<std::size_t>(v);
        const Int place = score_at(block, key, v * lanes_);
        const Vec score = builder_.load(scores_, place, lanes_);
        const Vec weight = builder_.get(builder_.local(exp(score - builder_.get(tile.maxima[at]))));
        builder_.store(scores_, place, weight);
        builder_.assign(tile.sums[at], builder_.get(tile.sums[at]) + weight);
      }
    });
    for (std::int64_t v = 0; v < tile.vectors; ++v)
      builder_.store(inverses_, v * lanes_,
                     splat(1) / builder_.get(tile.sums[static_cast<std::size_t>(v)]));
  }

  /// What was summed up before this block is scaled to the new maxima.
  void write_rescaling(const Tile& tile, const std::vector<Local>& previous) {
    for (std::int64_t v = 0; v < tile.vectors; ++v) {
      const auto at = static_cast<std::size_t>(v);
      const Vec factor = builder_.get(
          builder_.local(exp(builder_.get(previous[at]) - builder_.get(tile.maxima[at]))));
      builder_.store(factors_, v * lanes_, factor);
      builder_.assign(tile.sums[at], builder_.get(tile.sums[at]) * factor);
    }
  }

  /// A register block of the output.
  struct Products {
    Int row, column;  ///< the first; rows counted within the tile
    std::int64_t rows, vectors;
    std::int64_t last_active;  ///< columns in the last vector
  };

  template <typename Visit>
  void for_each_sum(const Tile& tile, const Products& p, Visit visit) const {
    for (std::int64_t r = 0; r < p.rows; ++r) {
      for (std::int64_t v = 0; v < p.vectors; ++v)
        visit(element(output_, tile.batch, tile.first_row + p.row + r, p.column + v * lanes_),
              p.row + r, active_columns(p, v), static_cast<std::size_t>(r * p.vectors + v));
    }
  }

  std::optional<Int> active_columns(const Products& p, std::int64_t vector) const {
    const bool is_full = vector + 1 < p.vectors || p.last_active == lanes_;
    return is_full ? std::nullopt : std::optional<Int>(Int(p.last_active));
  }

  /// Adds the block's weights times values to the output's rows, which hold partial sums between blocks.
  void write_products(const Tile& tile, const KeyBlock& block, const Products& p) {
    const std::int64_t step = s_.output.column;
    std::vector<Local> sums;
    for (std::int64_t i = 0; i < p.rows * p.vectors; ++i) sums.push_back(builder_.local(splat(0)));
    if (cut_.blocks() > 1) {
      builder_.if_(block.begin != 0, [&] {
        for_each_sum(tile, p, [&](Int at, Int row, std::optional<Int> active, std::size_t i) {
          builder_.assign(sums[i], builder_.load(output_.buffer, at, lanes_, active, step) *
                                       builder_.load_broadcast(factors_, row, lanes_));
        });
      });
    }
    const Int unrolled = block.begin + (block.end - block.begin) / t_.key_unroll * t_.key_unroll;
    builder_.loop("key", block.begin, unrolled, t_.key_unroll, [&](Int key) {
      for (std::int64_t u = 0; u < t_.key_unroll; ++u)
        write_product_step(tile, block, p, key + u, sums);
    });
    builder_.loop("key", unrolled, block.end, 1,
                  [&](Int key) { write_product_step(tile, block, p, key, sums); });
    const auto store = [&](bool is_last) {
      for_each_sum(tile, p, [&](Int at, Int row, std::optional<Int> active, std::size_t i) {
        const Vec sum = builder_.get(sums[i]);
        builder_.store(output_.buffer, at,
                       is_last ? sum * builder_.load_broadcast(inverses_, row, lanes_) : sum,
                       active, step);
      });
    };
    builder_.if_(
        block.end == s_.keys, [&] { store(true); }, [&] { store(false); });
  }

  void write_product_step(const Tile& tile, const KeyBlock& block, const Products& p, Int key,
                          const std::vector<Local>& sums) {
    const RegisterBlock products{.rows = p.rows, .vectors = p.vectors, .sums = sums};
    products.step(
        builder_,
        [&](std::int64_t v) {
          return builder_.local(
              builder_.load(value_.buffer, element(value_, tile.batch, key, p.column + v * lanes_),
                            lanes_, active_columns(p, v), s_.value.column));
        },
        [&](std::int64_t r) {
          return builder_.local(
              builder_.load_broadcast(scores_, score_at(block, key, p.row + r), lanes_));
        });
  }

  const AttentionCut& cut_;
  const reference::AttentionShape& s_;
  const AttentionTiling& t_;
  const int lanes_;
  Builder builder_{"attention"};
  std::vector<PackedConstant> constants_;
  Matrices query_, key_, value_, output_;
  std::optional<Matrices> mask_;
  Buffer queries_{};  ///< [depth][row of the tile], scaled
  Buffer scores_{};  ///< [key of the block][row of the tile]; before, the mask; behind, the weights
  Buffer factors_{};   ///< [row of the tile]: of what was summed up before this block
  Buffer inverses_{};  ///< [row of the tile]: of the sum of all weights so far
};

}  // namespace

Int element_of(const reference::AttentionShape& shape, const MatrixView& view, Int batch, Int row,
               Int column) {
  Int offset = view.offset;
  for (std::size_t d = shape.batch.size(); d-- > 0;) {
    const Int index = d == 0 ? batch : batch % shape.batch[d];
    if (view.batch[d] != 0) offset = offset + index * view.batch[d];
    if (d > 0) batch = batch / shape.batch[d];
  }
  return offset + row * view.row + column * view.column;
}

Kernel build_attention(const Task& task, const AttentionCut& cut) {
  return AttentionNest(task, cut).build();
}

}  // namespace aoe::compiler
