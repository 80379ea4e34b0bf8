// GuardedBuffer: memory that ends (or begins) at a page nobody may touch, so that reading one
// element too far crashes.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <stdexcept>

namespace aoe::compiler {

class GuardedBuffer {
 public:
  enum class Edge { kEnd, kBegin };

  /// Zeroed. With kEnd the last byte lies before a guard page, with kBegin the first byte lies
  /// behind one.
  explicit GuardedBuffer(std::size_t size_bytes, Edge edge = Edge::kEnd) : size_bytes_(size_bytes) {
    const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    mapped_bytes_ = (size_bytes + page - 1) / page * page + 2 * page;
    void* map = mmap(nullptr, mapped_bytes_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (map == MAP_FAILED) throw std::bad_alloc();
    map_ = static_cast<std::byte*>(map);
    const std::size_t usable = mapped_bytes_ - 2 * page;
    if (usable > 0 && mprotect(map_ + page, usable, PROT_READ | PROT_WRITE) != 0) {
      throw std::runtime_error("mprotect failed");
    }
    data_ = edge == Edge::kBegin ? map_ + page : map_ + page + usable - size_bytes;
  }
  ~GuardedBuffer() { munmap(map_, mapped_bytes_); }
  GuardedBuffer(const GuardedBuffer&) = delete;
  GuardedBuffer& operator=(const GuardedBuffer&) = delete;

  template <typename T = float>
  T* as() const {
    return reinterpret_cast<T*>(data_);
  }
  std::size_t size_bytes() const { return size_bytes_; }

 private:
  std::size_t size_bytes_;
  std::size_t mapped_bytes_;
  std::byte* map_;
  std::byte* data_;
};

}  // namespace aoe::compiler
