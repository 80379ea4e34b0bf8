// Reading whole files and writing them by rename.
#include "base/file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>

namespace aoe {
namespace fs = std::filesystem;

std::string read_file(const fs::path& path, ExitCode code) {
  std::error_code status;
  if (fs::is_directory(path, status)) throw Error(code, "is a directory, a file is needed", path.string());
  std::ifstream in(path, std::ios::binary);
  if (!in) throw Error(code, "cannot be opened: " + std::string(std::strerror(errno)), path.string());
  std::ostringstream bytes;
  bytes << in.rdbuf();
  if (in.bad()) throw Error(code, "cannot be read: " + std::string(std::strerror(errno)), path.string());
  return std::move(bytes).str();
}

namespace {
[[noreturn]] void fail(const fs::path& path, const std::string& action) {
  throw Error(ExitCode::kOutput, action + ": " + std::strerror(errno), path.string(),
              "choose a writable place with enough space");
}
}  // namespace

void write_file_atomically(const fs::path& path, std::string_view bytes, bool sync) {
  const fs::path temporary = path.string() + ".tmp" + std::to_string(::getpid());
  const int fd = ::open(temporary.c_str(), O_CREAT | O_WRONLY | O_TRUNC | O_CLOEXEC, 0644);
  if (fd < 0) fail(path, "cannot be written");
  std::size_t done = 0;
  bool ok = true;
  while (ok && done < bytes.size()) {
    const ssize_t n = ::write(fd, bytes.data() + done, bytes.size() - done);
    if (n < 0 && errno == EINTR) continue;
    ok = n >= 0;
    if (ok) done += static_cast<std::size_t>(n);
  }
  if (ok && sync) ok = ::fsync(fd) == 0;
  const int saved = errno;
  ::close(fd);
  if (!ok || ::rename(temporary.c_str(), path.c_str()) != 0) {
    const int cause = ok ? errno : saved;
    ::unlink(temporary.c_str());
    errno = cause;
    fail(path, "cannot be written");
  }
  if (sync) sync_path(path.has_parent_path() ? path.parent_path() : ".");
}

void sync_path(const fs::path& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) fail(path, "cannot be synced");
  const bool ok = ::fsync(fd) == 0;
  const int cause = errno;
  ::close(fd);
  errno = cause;
  if (!ok) fail(path, "cannot be synced");
}

}  // namespace aoe
