// FileLock: an exclusive flock on a file that says who holds it; waits its turn, with a bound.
#pragma once

#include <chrono>
#include <filesystem>

#include "base/descriptor.h"

namespace aoe::bank {

class FileLock {
 public:
  /// Creates the file when missing. Throws Error(kBank) that names the holder (process, host, since
  /// when) after `wait`.
  FileLock(const std::filesystem::path& path, std::chrono::milliseconds wait);

 private:
  Descriptor file_;
};

}  // namespace aoe::bank
