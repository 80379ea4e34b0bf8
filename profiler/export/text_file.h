// TextFile: a large text, written through one buffer and seen by others only when it is whole.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "base/descriptor.h"

namespace aoe::profiler {

/// Appends "1234.567": nanoseconds as microseconds, exactly.
void append_us(std::string& text, std::int64_t ns);
void append_integer(std::string& text, std::int64_t value);
/// With `decimals` digits after the point; "N/A" unless it is finite.
void append_real(std::string& text, double value, int decimals);
/// With quotes, escaped as JSON; bytes that are no UTF-8 become U+FFFD.
void append_json_string(std::string& text, std::string_view value);

class TextFile {
 public:
  /// Throws Error(kOutput), as all below.
  explicit TextFile(std::filesystem::path path);
  ~TextFile();  ///< without finish(): leaves nothing
  TextFile(const TextFile&) = delete;
  TextFile& operator=(const TextFile&) = delete;

  /// Append to this; call maybe_flush() between two records.
  std::string& buffer() { return buffer_; }
  void maybe_flush() {
    if (buffer_.size() >= kBufferBytes) flush();
  }
  /// Renames to the final name, or to another that only turned out now.
  void finish() { finish_as(path_); }
  void finish_as(const std::filesystem::path& path);
  const std::filesystem::path& path() const { return path_; }

 private:
  static constexpr std::size_t kBufferBytes = 1 << 20;
  void flush();

  std::filesystem::path path_;
  std::filesystem::path unfinished_;
  std::string buffer_;
  Descriptor file_;
};

}  // namespace aoe::profiler
