// See block_loops.h.
#include "compiler/emit/block_loops.h"

#include "compiler/emit/integer_math.h"

namespace aoe::compiler {

std::vector<BlockRun> block_runs(std::int64_t extent, std::int64_t block) {
  std::vector<BlockRun> runs;
  const std::int64_t full = extent / block, rest = extent % block;
  if (full > 0) runs.push_back({0, block, full});
  if (rest > 0) runs.push_back({full * block, rest, 1});
  return runs;
}

std::vector<BlockRun> even_runs(std::int64_t extent, std::int64_t block) {
  const std::int64_t blocks = ceil_div(extent, block);
  const std::int64_t size = ceil_div(extent, blocks);
  const std::int64_t smaller = blocks * size - extent, full = blocks - smaller;
  std::vector<BlockRun> runs = {{0, size, full}};
  if (smaller > 0) runs.push_back({full * size, size - 1, smaller});
  return runs;
}

void each_block(Builder& builder, const std::vector<BlockRun>& runs, Int tile,
                std::int64_t blocks_per_tile, const std::string& name,
                const std::function<void(Int, std::int64_t, Int)>& body,
                const std::function<void(std::int64_t)>& before_run) {
  std::int64_t first_block = 0;
  for (const BlockRun& run : runs) {
    if (before_run) before_run(run.size);
    const Int begin = tile * blocks_per_tile;
    const auto write = [&](Int index) {
      body((index - first_block) * run.size + run.first, run.size, index - begin);
    };
    if (blocks_per_tile == 1 && runs.size() == 1) {
      write(begin);
    } else {
      builder.loop(name, max(begin, Int(first_block)),
                   min(begin + blocks_per_tile, Int(first_block + run.count)), 1, write);
    }
    first_block += run.count;
  }
}

void each_k_tile(Builder& builder, std::int64_t steps, std::int64_t per_tile,
                 const std::function<void(Int, std::int64_t, bool, bool)>& body) {
  const std::int64_t last = (ceil_div(steps, per_tile) - 1) * per_tile;
  if (last == 0) return body(0, steps, true, true);
  body(0, per_tile, true, false);
  builder.loop("k_tile", per_tile, last, per_tile, [&](Int k) { body(k, per_tile, false, false); });
  body(last, steps - last, false, true);
}

}  // namespace aoe::compiler
