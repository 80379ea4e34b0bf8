// AlignedBytes: a string of bytes that begins at a cache line, for what is packed, or read by vector instructions, where
// it lies. One of fewer than 16 bytes lies in the object itself, wherever that is.
#pragma once

#include <cstddef>
#include <new>
#include <string>

namespace aoe {

template <typename T>
struct CacheLineAllocator {
  using value_type = T;
  static constexpr std::align_val_t kAlignment{64};

  CacheLineAllocator() = default;
  template <typename U>
  // NOLINTNEXTLINE(google-explicit-constructor): the standard's
  CacheLineAllocator(const CacheLineAllocator<U>&) {}

  T* allocate(std::size_t count) {
    return static_cast<T*>(::operator new(count * sizeof(T), kAlignment));
  }
  void deallocate(T* memory, std::size_t) { ::operator delete(memory, kAlignment); }
  bool operator==(const CacheLineAllocator&) const = default;
};

using AlignedBytes = std::basic_string<char, std::char_traits<char>, CacheLineAllocator<char>>;

}  // namespace aoe
