// Allocation with cache-line or huge-page alignment.
#include "runtime/aligned_memory.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>
#include <new>

#include "base/ceil_div.h"
#include "base/memory.h"

namespace aoe::runtime {

AlignedMemory::AlignedMemory(std::size_t size_bytes) : size_bytes_(size_bytes) {
  constexpr std::size_t kCacheLine = 64;
  constexpr std::size_t kHugePage = std::size_t{2} << 20;
  const bool is_large = size_bytes >= kHugePage;
  const std::size_t alignment = is_large ? kHugePage : kCacheLine;
  const std::size_t rounded = round_up(std::max(size_bytes, kCacheLine), alignment);
  if (rounded < size_bytes) throw std::bad_alloc();
  check_memory(size_bytes, "a block of memory");
  bytes_.reset(std::aligned_alloc(alignment, rounded));
  if (!bytes_) throw std::bad_alloc();
  if (is_large)
    ::madvise(bytes_.get(), rounded, MADV_HUGEPAGE);  // a wish: the result does not matter
}

void AlignedMemory::Free::operator()(void* p) const {
  std::free(p);
}

}  // namespace aoe::runtime
