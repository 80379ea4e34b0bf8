// AlignedMemory: owned, uninitialised bytes, aligned to a cache line, or to huge pages when they
// are many.
#pragma once

#include <cstddef>
#include <memory>

namespace aoe::runtime {

class AlignedMemory {
 public:
  AlignedMemory() = default;
  /// From 2 MiB on the kernel is asked for huge pages: kernels that stream through the arena then
  /// miss the TLB 512 times less often. At least 64 bytes, so that data() is never null. Throws
  /// std::bad_alloc.
  explicit AlignedMemory(std::size_t size_bytes);

  void* data() const { return bytes_.get(); }
  std::byte* at(std::size_t offset) const { return static_cast<std::byte*>(data()) + offset; }
  std::size_t size_bytes() const { return size_bytes_; }
  /// Hands the bytes over to a caller who ends them with std::free().
  void* release() { return bytes_.release(); }

 private:
  struct Free {
    void operator()(void* p) const;
  };
  std::unique_ptr<void, Free> bytes_;
  std::size_t size_bytes_ = 0;
};

}  // namespace aoe::runtime
