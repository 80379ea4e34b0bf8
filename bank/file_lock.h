// FileLock: an exclusive flock on a file that says who holds it; waits its turn, with a bound.
#pragma once

#include <chrono>
#include <filesystem>

namespace aoe::bank {

class FileLock {
 public:
  /// Creates the file when missing. Throws Error(kBank) that names the holder (process, host, since
  /// when) after `wait`.
  FileLock(const std::filesystem::path& path, std::chrono::milliseconds wait);
  ~FileLock();
  FileLock(const FileLock&) = delete;
  FileLock& operator=(const FileLock&) = delete;

 private:
  int fd_ = -1;
};

}  // namespace aoe::bank
