// The arithmetic of attention's tiling.
#include <algorithm>

#include "compiler/attention/attention_nest.h"
#include "compiler/emit/block_cycles.h"
#include "compiler/emit/block_loops.h"
#include "compiler/emit/integer_math.h"

namespace aoe::compiler {
bool has_mask(const Task& task) {
  return task.has_input(3);
}

Result<reference::AttentionShape> attention_shape_of(const Task& task) {
  if (task.op.type != "FlashAttentionScore") return Unexpected("does not compute " + task.op.type);
  for (const TaskInput& input : task.inputs) {
    if (input.is_present() && input.desc.dtype != DataType::kFloat)
      return Unexpected("an input is " + to_string(input.desc) + ", needs float32");
  }
  return reference::attention_shape(task.op.attrs, has_mask(task));
}

AttentionCut::AttentionCut(const reference::AttentionShape& shape, int lanes,
                           const AttentionTiling& tiling)
    : shape_(shape), lanes_(lanes), tiling_(tiling) {
}

std::int64_t AttentionCut::keys_per_block() const {
  if (tiling_.key_block == 0 || tiling_.key_block >= shape_.keys) return shape_.keys;
  return round_up(tiling_.key_block, tiling_.key_group);
}

std::int64_t AttentionCut::blocks() const {
  return ceil_div(shape_.keys, keys_per_block());
}

std::int64_t AttentionCut::value_vectors() const {
  return ceil_div(shape_.value_depth, lanes_);
}

std::int64_t AttentionCut::scratch_bytes() const {
  const std::int64_t floats = (keys_per_block() + shape_.depth) * tile_rows();
  return floats * std::int64_t{sizeof(float)};
}

std::int64_t AttentionCut::registers() const {
  const AttentionTiling& t = tiling_;
  const auto block = [&](std::int64_t rows, std::int64_t vectors) {
    return rows * vectors + factor_registers(vectors, vector_bytes());
  };
  return std::max(block(t.key_group, t.q_vectors), block(t.row_group, t.v_vectors));
}

std::int64_t AttentionCut::body_fmas() const {
  const AttentionTiling& t = tiling_;
  const std::int64_t tail_keys = shape_.keys % t.key_group;
  const auto of_tile = [&](std::int64_t rows) {
    if (rows == 0) return std::int64_t{0};
    const std::int64_t scores =
        (t.key_group + tail_keys) * ceil_div(rows, lanes_) * (t.depth_unroll + 1);
    std::int64_t group_rows = 0;
    for (const BlockRun& run : even_runs(rows, t.row_group)) group_rows += run.size;
    std::int64_t columns = 0;
    for (const BlockRun& run : block_runs(value_vectors(), t.v_vectors)) columns += run.size;
    return scores + group_rows * columns * (t.key_unroll + 1);
  };
  return of_tile(full_tiles() > 0 ? tile_rows() : 0) + of_tile(rest_rows());
}

double AttentionCut::core_cycles() const {
  const AttentionTiling& t = tiling_;
  const auto keys = static_cast<double>(shape_.keys), depth = static_cast<double>(shape_.depth);
  const auto of_tile = [&](std::int64_t rows) {
    if (rows == 0) return 0.0;
    const auto q = static_cast<double>(ceil_div(rows, lanes_));
    double cycles = keys * q * kWeightCycles;
    // Queries are in L1; a cache line of keys comes from L2 every `lanes` steps.
    for (const BlockRun& run : block_runs(shape_.keys, t.key_group)) {
      const auto g = static_cast<double>(run.size);
      cycles += static_cast<double>(run.count) * depth *
                block_cycles(vector_bytes(), g * q, g + q, g / lanes_, 1);
    }
    for (const BlockRun& group : even_runs(rows, t.row_group)) {
      for (const BlockRun& columns : block_runs(value_vectors(), t.v_vectors)) {
        const auto r = static_cast<double>(group.size), v = static_cast<double>(columns.size);
        const double moves = 2 * r * v * static_cast<double>(blocks());
        cycles += static_cast<double>(group.count * columns.count) *
                  (keys * block_cycles(vector_bytes(), r * v, r, v, 1) + moves);
      }
    }
    return cycles;
  };
  const double tiles = static_cast<double>(full_tiles()) * of_tile(tile_rows());
  return static_cast<double>(shape_.batches()) * (tiles + of_tile(rest_rows()));
}

}  // namespace aoe::compiler
