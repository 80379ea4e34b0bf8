// MemoryBlock: a piece of memory that shows in profiles, from its making to its end.
#pragma once

#include <cstdint>
#include <string_view>

namespace aoe::profiler {

/// Thread-safe. Blocks that live when a collection begins are recorded then, with the time when they were made.
class MemoryBlock {
 public:
  MemoryBlock() = default;  ///< none
  MemoryBlock(std::string_view name, std::uint64_t bytes);
  ~MemoryBlock();
  MemoryBlock(MemoryBlock&& other) noexcept;
  MemoryBlock& operator=(MemoryBlock&& other) noexcept;

 private:
  std::uint64_t id_ = 0;  ///< 0: none
};

/// Records the allocation of each living block.
void record_living_blocks();

}  // namespace aoe::profiler
