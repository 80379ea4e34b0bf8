// MemoryPool: memory of tensors whose sizes only a run tells. What is read no more is left to those that follow: a run takes as much
// as lives at a time, and finds it in caches.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "runtime/aligned_memory.h"

namespace aoe::runtime {

class MemoryPool {
 public:
  using Block = std::shared_ptr<const AlignedMemory>;

  /// At least so many bytes; somewhat more where it is new, for tensors that grow from run to run. Throws std::bad_alloc.
  Block take(std::size_t size_bytes);
  /// Free for others, unless somebody else holds it.
  void give(Block block);
  /// Frees what no run has wanted for a while.
  void end_run();

 private:
  struct Free {
    Block block;
    std::uint64_t run;  ///< in which it was given back
  };
  std::vector<Free> free_;
  std::uint64_t run_ = 0;
};

}  // namespace aoe::runtime
