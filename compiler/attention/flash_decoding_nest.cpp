// Writes the loop nest of attention for few queries for one DecodingCut.
#include "compiler/attention/flash_decoding_nest.h"

#include <algorithm>
#include <limits>

#include "compiler/attention/attention_nest.h"
#include "compiler/emit/integer_math.h"
#include "compiler/emit/kernel_buffers.h"
#include "compiler/emit/lane_folds.h"
#include "compiler/emit/register_block.h"

namespace aoe::compiler {
namespace {

using reference::MaskMode;
using reference::MatrixView;

constexpr float kNoScore = std::numeric_limits<float>::lowest();

/// What both stages know: the buffers, and where the workspace has what.
class DecodingStage {
 protected:
  /// `kernel`: gets the inputs that are constants.
  DecodingStage(const std::string& name, const Task& task, const DecodingCut& cut, Kernel& kernel)
      : builder_(name),
        task_(task),
        cut_(cut),
        s_(cut.shape()),
        lanes_(cut.lanes()),
        buffers_(declare_operands(builder_, task, task.inputs.size(), lanes_, kernel,
                                  cut.tiling().chunks > 1)) {}

  Buffer input(std::size_t i) const { return *buffers_.inputs[i]; }

  Vec splat(float value) const { return loopnest::splat(value, lanes_); }
  Vec kept(Vec value) { return builder_.get(builder_.local(value)); }
  Vec largest_lane(Vec value) { return kept(broadcast(reduce_max(value), lanes_)); }
  Vec sum_of_lanes(Vec value) { return kept(broadcast(reduce_add(value), lanes_)); }

  /// Row `row` of group `group`: query row % queries of one of the heads that share its keys.
  Int element(const MatrixView& view, Int group, std::int64_t row, Int column) const {
    return element(view, group * cut_.sharing() + row / s_.queries, Int(row % s_.queries), column);
  }
  Int element(const MatrixView& view, Int batch, Int row, Int column) const {
    return element_of(s_, view, batch, row, column);
  }

  Int partial_sums(Int group, Int chunk, std::int64_t row) const {
    return (group * cut_.tiling().chunks + chunk) * cut_.chunk_floats() +
           row * (cut_.value_vectors() * lanes_);
  }
  /// Its maximum in all lanes, and behind it its sum of weights.
  Int partial_softmax(Int group, Int chunk, std::int64_t row) const {
    return partial_sums(group, chunk, cut_.rows()) + row * (2 * lanes_);
  }

  /// Columns of the output in a vector; nothing when all are.
  std::optional<Int> active_columns(std::int64_t vector) const {
    const std::int64_t left = s_.value_depth - vector * lanes_;
    return left < lanes_ ? std::optional<Int>(Int(left)) : std::nullopt;
  }
  void store_output(Int group, std::int64_t row, std::int64_t vector, Vec value) {
    builder_.store(buffers_.outputs[0], element(s_.output, group, row, vector * lanes_), value,
                   active_columns(vector), s_.output.column);
  }

  Builder builder_;
  const Task& task_;
  const DecodingCut& cut_;
  const reference::AttentionShape& s_;
  const int lanes_;
  const KernelBuffers buffers_;
};

/// A chunk of keys for all rows of a group.
class ChunkStage : DecodingStage {
 public:
  ChunkStage(const Task& task, const DecodingCut& cut, Kernel& kernel)
      : DecodingStage("flash_decoding", task, cut, kernel),
        depth_(round_up(s_.depth, lanes_)),
        queries_(builder_.scratch("queries", cut.rows() * depth_)),
        scores_(builder_.scratch("scores", cut.rows() * cut.chunk_keys())) {}

  loopnest::Function build() {
    builder_.parallel(cut_.parallel_extent(), [&](Int iteration) {
      const std::int64_t chunks = cut_.tiling().chunks;
      const Int first = iteration % chunks * cut_.chunk_keys();
      write_chunk({iteration / chunks, iteration % chunks, first,
                   min(first + cut_.chunk_keys(), Int(s_.keys))});
    });
    return builder_.finish();
  }

 private:
  struct Chunk {
    Int group, number;
    Int begin, end;  ///< of keys
  };

  Int score_at(const Chunk& chunk, std::int64_t row, Int key) const {
    return row * cut_.chunk_keys() + key - chunk.begin;
  }

  void write_chunk(const Chunk& chunk) {
    write_queries(chunk);
    std::vector<Local> maxima;
    // Not -inf: then a chunk of masked keys alone would give -inf - -inf.
    for (std::int64_t r = 0; r < cut_.rows(); ++r)
      maxima.push_back(builder_.local(splat(kNoScore)));
    write_scores(chunk, maxima);
    std::vector<Vec> sums;
    for (std::int64_t r = 0; r < cut_.rows(); ++r) {
      const Vec maximum = largest_lane(builder_.get(maxima[static_cast<std::size_t>(r)]));
      sums.push_back(write_weights(chunk, r, maximum));
      if (cut_.tiling().chunks == 1) continue;
      const Int at = partial_softmax(chunk.group, chunk.number, r);
      builder_.store(*buffers_.workspace, at, maximum);
      builder_.store(*buffers_.workspace, at + lanes_, sums.back());
    }
    for (std::int64_t v = 0; v < cut_.value_vectors(); v += cut_.tiling().v_vectors)
      write_products(chunk, v, std::min(cut_.tiling().v_vectors, cut_.value_vectors() - v), sums);
  }

  /// Times the scale, row by row, with zeros behind the last column.
  void write_queries(const Chunk& chunk) {
    for (std::int64_t r = 0; r < cut_.rows(); ++r)
      for (std::int64_t d = 0; d < s_.depth; d += lanes_)
        builder_.store(queries_, r * depth_ + d,
                       builder_.load(input(0), element(s_.query, chunk.group, r, d), lanes_,
                                     active_depth(d), s_.query.column) *
                           splat(s_.scale));
  }

  std::optional<Int> active_depth(std::int64_t column) const {
    const std::int64_t left = s_.depth - column;
    return left < lanes_ ? std::optional<Int>(Int(left)) : std::nullopt;
  }

  /// Calls body(first key, their number) for vectors of keys, the number being a constant.
  void write_scores(const Chunk& chunk, const std::vector<Local>& maxima) {
    const std::int64_t tail = s_.keys % lanes_, full = s_.keys - tail;
    const auto write = [&](Int key, std::int64_t keys) {
      for (std::int64_t r = 0; r < cut_.rows(); ++r) {
        const Vec sums = s_.key.column == 1 ? scores_by_row(chunk, r, key, keys)
                                            : scores_by_column(chunk, r, key, keys);
        const Vec score = masked(chunk, r, key, keys, sums);
        const Int at = score_at(chunk, r, key);
        if (keys < lanes_) builder_.store(scores_, at, splat(kNoScore));
        builder_.store(scores_, at, score, active(keys));
        const Local& largest = maxima[static_cast<std::size_t>(r)];
        builder_.assign(largest, max(builder_.get(largest),
                                     keys < lanes_ ? builder_.load(scores_, at, lanes_) : score));
      }
    };
    builder_.loop("key", chunk.begin, min(chunk.end, Int(full)), lanes_,
                  [&](Int key) { write(key, lanes_); });
    if (tail > 0) builder_.if_(chunk.end == s_.keys, [&] { write(full, tail); });
  }

  std::optional<Int> active(std::int64_t keys) const {
    return keys < lanes_ ? std::optional<Int>(Int(keys)) : std::nullopt;
  }

  /// Each key's vectors of products, whose lanes are then added up, all keys' at once.
  Vec scores_by_row(const Chunk& chunk, std::int64_t row, Int key, std::int64_t keys) {
    std::vector<Local> sums;
    for (std::int64_t k = 0; k < keys; ++k) sums.push_back(builder_.local(splat(0)));
    for (std::int64_t d = 0; d < s_.depth; d += lanes_) {
      const Vec query = kept(builder_.load(queries_, row * depth_ + d, lanes_));
      for (std::int64_t k = 0; k < keys; ++k) {
        const Local& sum = sums[static_cast<std::size_t>(k)];
        const Int at = element(s_.key, chunk.group * cut_.sharing(), key + k, d);
        builder_.assign(sum, fma(builder_.load(input(1), at, lanes_, active_depth(d)), query,
                                 builder_.get(sum)));
      }
    }
    std::vector<Vec> vectors;
    for (const Local& sum : sums) vectors.push_back(builder_.get(sum));
    return fold_lanes(builder_, std::move(vectors), loopnest::add);
  }

  /// Of keys that lie side by side.
  Vec scores_by_column(const Chunk& chunk, std::int64_t row, Int key, std::int64_t keys) {
    const Local sum = builder_.local(splat(0));
    builder_.loop("depth", 0, s_.depth, 1, [&](Int depth) {
      const Int at = element(s_.key, chunk.group * cut_.sharing(), key, depth);
      builder_.assign(sum, fma(builder_.load(input(1), at, lanes_, active(keys), s_.key.row),
                               builder_.load_broadcast(queries_, row * depth_ + depth, lanes_),
                               builder_.get(sum)));
    });
    return builder_.get(sum);
  }

  Vec masked(const Chunk& chunk, std::int64_t row, Int key, std::int64_t keys, Vec score) {
    if (!has_mask(task_)) return kept(score);
    const Vec mask = builder_.load(input(3), element(s_.mask, chunk.group, row, key), lanes_,
                                   active(keys), s_.mask.column);
    return kept(s_.mask_mode == MaskMode::kAdd ? score + mask : min(score, mask));
  }

  /// Scores become exp(score - maximum); their sum, in all lanes. What stands behind the last key becomes 0.
  Vec write_weights(const Chunk& chunk, std::int64_t row, Vec maximum) {
    const Local sum = builder_.local(splat(0));
    const auto write = [&](Int key, std::optional<Int> active) {
      const Int at = score_at(chunk, row, key);
      const Vec weight = kept(exp(builder_.load(scores_, at, lanes_) - maximum));
      builder_.store(scores_, at, active ? splat(0) : weight);
      if (active) builder_.store(scores_, at, weight, active);
      builder_.assign(sum,
                      builder_.get(sum) + (active ? builder_.load(scores_, at, lanes_) : weight));
    };
    const std::int64_t tail = s_.keys % lanes_;
    builder_.loop("key", chunk.begin, min(chunk.end, Int(s_.keys - tail)), lanes_,
                  [&](Int key) { write(key, std::nullopt); });
    if (tail > 0) builder_.if_(chunk.end == s_.keys, [&] { write(s_.keys - tail, active(tail)); });
    return sum_of_lanes(builder_.get(sum));
  }

  /// Weights times values, for some vectors of columns and all rows.
  void write_products(const Chunk& chunk, std::int64_t first, std::int64_t vectors,
                      const std::vector<Vec>& sums_of_weights) {
    std::vector<Local> sums;
    for (std::int64_t i = 0; i < cut_.rows() * vectors; ++i)
      sums.push_back(builder_.local(splat(0)));
    const RegisterBlock products{.rows = cut_.rows(), .vectors = vectors, .sums = sums};
    const auto step = [&](Int key) {
      products.step(
          builder_,
          [&](std::int64_t v) {
            const Int at =
                element(s_.value, chunk.group * cut_.sharing(), key, (first + v) * lanes_);
            return builder_.local(
                builder_.load(input(2), at, lanes_, active_columns(first + v), s_.value.column));
          },
          [&](std::int64_t r) {
            return builder_.local(
                builder_.load_broadcast(scores_, score_at(chunk, r, key), lanes_));
          });
    };
    const std::int64_t unroll = cut_.tiling().key_unroll;
    const Int unrolled = chunk.begin + (chunk.end - chunk.begin) / unroll * unroll;
    builder_.loop("key", chunk.begin, unrolled, unroll, [&](Int key) {
      for (std::int64_t u = 0; u < unroll; ++u) step(key + u);
    });
    builder_.loop("key", unrolled, chunk.end, 1, step);
    for (std::int64_t r = 0; r < cut_.rows(); ++r) {
      for (std::int64_t v = 0; v < vectors; ++v) {
        const Vec sum = builder_.get(sums[static_cast<std::size_t>(r * vectors + v)]);
        if (cut_.tiling().chunks == 1)
          store_output(chunk.group, r, first + v,
                       sum / sums_of_weights[static_cast<std::size_t>(r)]);
        else
          builder_.store(*buffers_.workspace,
                         partial_sums(chunk.group, chunk.number, r) + (first + v) * lanes_, sum);
      }
    }
  }

  const std::int64_t depth_;
  const Buffer queries_;  ///< [row][depth], scaled
  const Buffer scores_;   ///< [row][key of the chunk]; later the weights
};

/// The chunks of a group together.
class MergeStage : DecodingStage {
 public:
  MergeStage(const Task& task, const DecodingCut& cut, Kernel& kernel)
      : DecodingStage("merge_chunks", task, cut, kernel),
        factors_(builder_.scratch("factors", cut.tiling().chunks * lanes_)) {}

  loopnest::Function build() {
    builder_.parallel(cut_.groups(), [&](Int group) {
      for (std::int64_t r = 0; r < cut_.rows(); ++r) write_row(group, r);
    });
    return builder_.finish();
  }

 private:
  Vec partial(Int at) { return builder_.load(*buffers_.workspace, at, lanes_); }

  void write_row(Int group, std::int64_t row) {
    const std::int64_t chunks = cut_.tiling().chunks;
    const Local maximum = builder_.local(splat(kNoScore)), weights = builder_.local(splat(0));
    builder_.loop("chunk", 0, chunks, 1, [&](Int chunk) {
      builder_.assign(maximum,
                      max(builder_.get(maximum), partial(partial_softmax(group, chunk, row))));
    });
    builder_.loop("chunk", 0, chunks, 1, [&](Int chunk) {
      const Int at = partial_softmax(group, chunk, row);
      const Vec factor = kept(exp(partial(at) - builder_.get(maximum)));
      builder_.store(factors_, chunk * lanes_, factor);
      builder_.assign(weights, fma(partial(at + lanes_), factor, builder_.get(weights)));
    });
    for (std::int64_t v = 0; v < cut_.value_vectors(); ++v) {
      const Local sum = builder_.local(splat(0));
      builder_.loop("chunk", 0, chunks, 1, [&](Int chunk) {
        builder_.assign(sum,
                        fma(partial(partial_sums(group, chunk, row) + v * lanes_),
                            builder_.load(factors_, chunk * lanes_, lanes_), builder_.get(sum)));
      });
      store_output(group, row, v, builder_.get(sum) / builder_.get(weights));
    }
  }

  const Buffer factors_;  ///< [chunk], in all lanes
};

}  // namespace

Kernel build_flash_decoding(const Task& task, const DecodingCut& cut) {
  Kernel kernel = kernel_for("jit");
  kernel.stages.push_back(ChunkStage(task, cut, kernel).build());
  if (cut.tiling().chunks == 1) return kernel;
  Kernel same;  // every stage declares the constants, which are packed once
  kernel.stages.push_back(MergeStage(task, cut, same).build());
  kernel.workspace_bytes =
      static_cast<std::size_t>(cut.parallel_extent() * cut.chunk_floats()) * sizeof(float);
  return kernel;
}

}  // namespace aoe::compiler
