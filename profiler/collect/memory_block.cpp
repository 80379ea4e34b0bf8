// The blocks that live now.
#include "profiler/collect/memory_block.h"

#include <map>
#include <memory>
#include <mutex>
#include <utility>

#include "base/held_at_fork.h"
#include "profiler/recorder.h"

namespace aoe::profiler {
namespace {

struct Living {
  std::uint32_t name_id;
  std::uint64_t bytes;
  std::uint64_t begin_ticks;
};

struct Blocks {
  std::mutex mutex;
  std::map<std::uint64_t, Living> living;
  std::uint64_t last_id = 0;
};

/// Never destroyed: static objects may own blocks.
Blocks& blocks() {
  static Blocks& instance = *std::make_unique<Blocks>().release();
  return instance;
}
const HeldAtFork held_blocks(blocks().mutex, LockRung::kBlocks);

void record_allocation(const Living& block) {
  if (is_recorded(EventKind::kMemory))
    record(EventKind::kMemory, block.name_id, block.begin_ticks, block.begin_ticks, block.bytes);
}

}  // namespace

MemoryBlock::MemoryBlock(std::string_view name, std::uint64_t bytes) {
  if (bytes == 0) return;
  const Living block{intern(name), bytes, now_ticks()};
  Blocks& all = blocks();
  const std::lock_guard lock(all.mutex);
  id_ = ++all.last_id;
  all.living[id_] = block;
  record_allocation(block);
}

MemoryBlock::~MemoryBlock() {
  if (id_ == 0) return;
  Blocks& all = blocks();
  const std::lock_guard lock(all.mutex);
  const auto found = all.living.find(id_);
  const Living block = found->second;
  all.living.erase(found);
  if (is_recorded(EventKind::kMemory))
    record(EventKind::kMemory, block.name_id, block.begin_ticks, now_ticks(), block.bytes);
}

MemoryBlock::MemoryBlock(MemoryBlock&& other) noexcept : id_(std::exchange(other.id_, 0)) {
}

MemoryBlock& MemoryBlock::operator=(MemoryBlock&& other) noexcept {
  std::swap(id_, other.id_);
  return *this;
}

void record_living_blocks() {
  Blocks& all = blocks();
  const std::lock_guard lock(all.mutex);
  for (const auto& [id, block] : all.living) record_allocation(block);
}

}  // namespace aoe::profiler
