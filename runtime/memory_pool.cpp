// The smallest block that is large enough, and of equal ones the one that was used last.
#include "runtime/memory_pool.h"

#include <algorithm>
#include <utility>

namespace aoe::runtime {

MemoryPool::Block MemoryPool::take(std::size_t size_bytes) {
  // A small tensor in a large block would have the next large one look for another.
  constexpr std::size_t kSmall = 16 << 10, kMostTimes = 4;
  auto best = free_.end();
  for (auto it = free_.begin(); it != free_.end(); ++it) {
    const std::size_t bytes = it->block->size_bytes();
    if (bytes < size_bytes || bytes > std::max(kSmall, kMostTimes * size_bytes)) continue;
    if (best == free_.end() || bytes <= best->block->size_bytes()) best = it;
  }
  constexpr std::size_t kMostBeyond = 1 << 20;
  if (best == free_.end())
    return std::make_shared<const AlignedMemory>(size_bytes +
                                                 std::min(size_bytes / 8, kMostBeyond));
  Block block = std::move(best->block);
  free_.erase(best);
  return block;
}

void MemoryPool::give(Block block) {
  if (block != nullptr && block.use_count() == 1) free_.push_back({std::move(block), run_});
}

void MemoryPool::end_run() {
  constexpr std::uint64_t kRuns = 3;
  std::erase_if(free_, [&](const Free& each) { return each.run + kRuns <= run_; });
  ++run_;
}

}  // namespace aoe::runtime
