// What fuzzers have in common: inputs as files, and what a reader may answer.
#pragma once

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <new>
#include <string>
#include <string_view>

#include "base/error.h"
#include "tests/temp_dir.h"

namespace aoe::fuzz {

/// A file that nobody else may read, written anew for each input.
class InputFile {
 public:
  const std::filesystem::path& with(std::string_view bytes) {
    const int fd = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_TRUNC, S_IRUSR | S_IWUSR);
    const bool is_written =
        fd >= 0 && ::write(fd, bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size());
    if (!is_written) std::abort();
    ::close(fd);
    return path_;
  }

 private:
  const tests::TempDir directory_;
  const std::filesystem::path path_ = directory_ / "input";
};

inline std::string_view text_of(const std::uint8_t* data, std::size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

/// An Error says what is wrong with the input, on one line; memory may run out. All else is a bug and ends the fuzzer.
template <typename Read>
void read_or_refuse(Read&& read) {
  try {
    read();
  } catch (const Error& error) {
    const bool is_documented =
        error.code() != ExitCode::kInternal && error.code() != ExitCode::kSuccess;
    if (!is_documented || std::string_view(error.what()).find('\n') != std::string_view::npos)
      std::abort();
  } catch (const std::bad_alloc&) {  // also OutOfMemory
  }
}

}  // namespace aoe::fuzz
