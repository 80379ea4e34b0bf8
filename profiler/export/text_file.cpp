// Formatting by std::to_chars: locales and streams cost more than the rest of an export.
#include "profiler/export/text_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstring>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/json_text.h"
#include "base/new_file.h"

namespace aoe::profiler {
namespace {

[[noreturn]] void fail(const std::filesystem::path& path, const std::string& cause) {
  throw Error(ExitCode::kOutput, "cannot be written: " + cause, path.string(),
              "choose a writable place with enough space");
}

bool is_plain(char c) {
  return c >= 0x20 && c < 0x7f && c != '"' && c != '\\';
}

}  // namespace

void append_integer(std::string& text, std::int64_t value) {
  char digits[24];
  text.append(digits, std::to_chars(digits, digits + sizeof digits, value).ptr);
}

void append_us(std::string& text, std::int64_t ns) {
  std::uint64_t magnitude = static_cast<std::uint64_t>(ns);
  if (ns < 0) {
    text += '-';
    magnitude = 0 - magnitude;
  }
  char digits[24];
  text.append(digits, std::to_chars(digits, digits + sizeof digits, magnitude / 1000).ptr);
  const std::uint64_t rest = magnitude % 1000;
  const char fraction[4] = {'.', static_cast<char>('0' + rest / 100),
                            static_cast<char>('0' + rest / 10 % 10),
                            static_cast<char>('0' + rest % 10)};
  text.append(fraction, sizeof fraction);
}

void append_real(std::string& text, double value, int decimals) {
  if (!std::isfinite(value)) {
    text += "N/A";
    return;
  }
  char digits[400];  // the longest double has 309 digits before the point
  text.append(
      digits,
      std::to_chars(digits, digits + sizeof digits, value, std::chars_format::fixed, decimals).ptr);
}

void append_json_string(std::string& text, std::string_view value) {
  for (const char c : value)
    if (!is_plain(c)) {
      text += json_text(nlohmann::json(value), -1, BadUtf8::kReplaced);
      return;
    }
  text += '"';
  text += value;
  text += '"';
}

TextFile::TextFile(std::filesystem::path path) : path_(std::move(path)) {
  file_ = create_file_beside(path_, 0640, unfinished_);
  buffer_.reserve(kBufferBytes + (kBufferBytes >> 2));
}

TextFile::~TextFile() {
  if (!file_.is_open()) return;
  std::error_code ignored;  // nothing more can be done about a leftover
  std::filesystem::remove(unfinished_, ignored);
  forget_unfinished(unfinished_);
}

void TextFile::flush() {
  std::string_view rest = buffer_;
  while (!rest.empty()) {
    const ssize_t written = ::write(file_.number(), rest.data(), rest.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) fail(path_, std::strerror(errno));
    rest.remove_prefix(static_cast<std::size_t>(written));
  }
  buffer_.clear();
}

void TextFile::finish_as(const std::filesystem::path& path) {
  path_ = path;
  flush();
  if (::close(file_.release()) != 0) fail(path_, std::strerror(errno));
  std::error_code failed;
  std::filesystem::rename(unfinished_, path_, failed);
  forget_unfinished(unfinished_);
  if (failed) fail(path_, failed.message());
}

}  // namespace aoe::profiler
