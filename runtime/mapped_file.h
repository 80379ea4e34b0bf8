// MappedFile: the bytes of a file, mapped and not copied.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <string_view>

namespace aoe::runtime {

class MappedFile {
 public:
  /// Throws Error(kOm) that says what is wrong with the file.
  explicit MappedFile(const std::filesystem::path& path);
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  std::string_view bytes() const { return {static_cast<const char*>(address_), size_bytes_}; }

 private:
  const void* address_ = nullptr;
  std::size_t size_bytes_ = 0;
};

}  // namespace aoe::runtime
