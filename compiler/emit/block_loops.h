// Loops over blocks: an extent cut into blocks of a size, with what is left over, and tiles of some blocks each.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "compiler/loopnest/loopnest.h"

namespace aoe::compiler {

/// `count` neighbouring blocks of `size`, from `first` on: full ones, then perhaps a smaller last one.
struct BlockRun {
  std::int64_t first = 0, size = 1, count = 1;
};
std::vector<BlockRun> block_runs(std::int64_t extent, std::int64_t block);
/// As many blocks, none larger than `block`, their sizes one apart at most: 197 rows by 14 are two blocks of 14 and
/// thirteen of 13, not fourteen of 14 and a single row that costs nearly as much as a block.
std::vector<BlockRun> even_runs(std::int64_t extent, std::int64_t block);
/// Loops over the blocks of tile number `tile`: body(first, size, number within the tile); before those of a size, before_run(size).
void each_block(loopnest::Builder& builder, const std::vector<BlockRun>& runs, loopnest::Int tile,
                std::int64_t blocks_per_tile, const std::string& name,
                const std::function<void(loopnest::Int, std::int64_t, loopnest::Int)>& body,
                const std::function<void(std::int64_t)>& before_run = {});

/// Loops over tiles of `per_tile` steps of k, the first and the last of them apart: body(first step, steps, first?, last?).
void each_k_tile(loopnest::Builder& builder, std::int64_t steps, std::int64_t per_tile,
                 const std::function<void(loopnest::Int, std::int64_t, bool, bool)>& body);

}  // namespace aoe::compiler
