// AlignedBytes: bytes that begin at a cache line, for what is packed, or read by vector instructions, where it lies.
#pragma once

#include <cstddef>
#include <new>
#include <utility>
#include <vector>

namespace aoe {

/// resize(n) leaves what is new as it is, resize(n, 0) sets it: the thread that writes a page is the one to touch it first.
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
  template <typename U, typename... Arguments>
  void construct(U* at, Arguments&&... arguments) {
    if constexpr (sizeof...(Arguments) == 0)
      ::new (at) U;
    else
      ::new (at) U(std::forward<Arguments>(arguments)...);
  }
  bool operator==(const CacheLineAllocator&) const = default;
};

using AlignedBytes = std::vector<char, CacheLineAllocator<char>>;

}  // namespace aoe
