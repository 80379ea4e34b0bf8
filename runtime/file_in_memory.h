// FileInMemory: all bytes of a file, in memory of our own.
#pragma once

#include <filesystem>
#include <string_view>

#include "runtime/aligned_memory.h"

namespace aoe::runtime {

/// Read and not mapped: weights in huge pages miss the TLB less often and lie in the caches as they lie in the file, where
/// pages of the page cache collide as chance has it (1 to 3% of a model's time); and who truncates or overwrites the file
/// later changes nothing.
class FileInMemory {
 public:
  /// Throws Error(kOm) that says what is wrong with the file.
  explicit FileInMemory(const std::filesystem::path& path);

  std::string_view bytes() const {
    return {static_cast<const char*>(memory_.data()), memory_.size_bytes()};
  }

 private:
  AlignedMemory memory_;
};

}  // namespace aoe::runtime
