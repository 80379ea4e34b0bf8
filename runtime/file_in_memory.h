// FileInMemory: all bytes of a file, in memory of our own or mapped.
#pragma once

#include <filesystem>
#include <string_view>

#include "runtime/aligned_memory.h"

namespace aoe::runtime {

enum class FileAs {
  /// Weights in huge pages miss the TLB less often and lie in the caches as they lie in the file, where pages of the page
  /// cache collide as chance has it (1 to 3% of a model's time); and who truncates or overwrites the file later changes
  /// nothing.
  kCopy,
  /// Pages of the page cache, read when they are touched: all processes that map the file have them once. The file must not
  /// change; one that is replaced by another of its name does not.
  kMapping,
};

/// The variable that makes whoever loads oms through acl/*.h map them: "1"; else they are copies.
inline constexpr const char* kShareWeightsVariable = "AOE_SHARE_WEIGHTS";
FileAs file_as_from_environment();

class FileInMemory {
 public:
  /// Throws Error(kOm) that says what is wrong with the file.
  explicit FileInMemory(const std::filesystem::path& path, FileAs as = FileAs::kCopy);
  ~FileInMemory();
  FileInMemory(const FileInMemory&) = delete;
  FileInMemory& operator=(const FileInMemory&) = delete;

  std::string_view bytes() const {
    return {static_cast<const char*>(mapping_ != nullptr ? mapping_ : memory_.data()), size_bytes_};
  }

 private:
  std::size_t size_bytes_ = 0;
  AlignedMemory memory_;
  void* mapping_ = nullptr;
};

}  // namespace aoe::runtime
