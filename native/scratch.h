// Memory that a kernel needs while it runs.
#pragma once

#include <cstddef>

namespace aoe::native {

/// It is not cleared, and lies on a line of the cache. What is given back is kept for later runs of the thread, up to some megabytes: fresh
/// memory comes from the system page by page, which takes as long as filling it.
class Scratch {
 public:
  explicit Scratch(std::size_t bytes);
  ~Scratch();
  Scratch(Scratch&& other) noexcept : data_(other.data_), bytes_(other.bytes_) {
    other.data_ = nullptr;
  }
  Scratch& operator=(Scratch&&) = delete;

  template <typename T>
  T* as() const {
    return static_cast<T*>(data_);
  }

 private:
  void* data_ = nullptr;
  std::size_t bytes_;
};

}  // namespace aoe::native
