// A process that has little memory left. Not under sanitizers, whose shadows take more than any limit of the address space.
#pragma once

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define AOE_CAN_LIMIT_MEMORY
#endif

#include <sys/resource.h>
#include <unistd.h>

#include <cstdint>
#include <fstream>

namespace aoe::runtime::tests {

/// While it lives, the process has so much more memory than it has taken.
class MemoryLimit {
 public:
  explicit MemoryLimit(std::uint64_t left_bytes) {
    ::getrlimit(RLIMIT_AS, &before_);
    std::uint64_t pages = 0;
    std::ifstream("/proc/self/statm") >> pages;
    rlimit limit = before_;
    limit.rlim_cur = pages * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE)) + left_bytes;
    ::setrlimit(RLIMIT_AS, &limit);
  }
  ~MemoryLimit() { ::setrlimit(RLIMIT_AS, &before_); }
  MemoryLimit(const MemoryLimit&) = delete;
  MemoryLimit& operator=(const MemoryLimit&) = delete;

 private:
  rlimit before_{};
};

}  // namespace aoe::runtime::tests
