// Reading whole files and writing them by rename.
#include "base/file.h"

#include <fcntl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>

#include "base/memory.h"
#include "base/new_file.h"
#include "base/system_calls.h"

namespace aoe {
namespace fs = std::filesystem;

std::string read_file(const fs::path& path, ExitCode code) {
  const auto cannot = [&](const char* action) {
    throw Error(code, std::string("cannot be ") + action + ": " + std::strerror(errno),
                path.string());
  };
  // Without waiting for somebody to write into it, should it be a pipe.
  const Descriptor file{::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)};
  if (!file.is_open()) cannot("opened");
  struct stat status {};
  if (::fstat(file.number(), &status) != 0) cannot("read");
  if (S_ISDIR(status.st_mode)) throw Error(code, "is a directory, a file is needed", path.string());
  if (!S_ISREG(status.st_mode)) throw Error(code, "is not a regular file", path.string());
  check_memory(static_cast<std::uint64_t>(status.st_size), path.string());
  std::string bytes;
  bytes.reserve(static_cast<std::size_t>(status.st_size));
  if (!append_all(file.number(), bytes)) cannot("read");
  return bytes;
}

namespace {
[[noreturn]] void fail(const fs::path& path, const std::string& action) {
  throw Error(ExitCode::kOutput, action + ": " + std::strerror(errno), path.string(),
              "choose a writable place with enough space");
}
}  // namespace

fs::path unforeseen_name(const fs::path& path) {
  std::uint64_t number = 0;
  if (::getrandom(&number, sizeof number, 0) != static_cast<ssize_t>(sizeof number))
    fail(path, "cannot be written");
  char suffix[32];
  std::snprintf(suffix, sizeof suffix, ".tmp%016llx", static_cast<unsigned long long>(number));
  // A name may have 255 bytes, and that of `path` may have them all.
  return path.parent_path() /
         (path.filename().string().substr(0, 255 - std::strlen(suffix)) + suffix);
}

fs::path create_directory_beside(const fs::path& path) {
  return make_unfinished([&] {
    while (true) {
      fs::path made = unforeseen_name(path);
      if (::mkdir(made.c_str(), 0777) == 0) return made;
      if (errno != EEXIST) fail(made, "cannot be made");
    }
  });
}

Descriptor create_file_beside(const fs::path& path, unsigned mode, fs::path& made) {
  Descriptor file;
  made = make_unfinished([&] {
    while (true) {
      fs::path tried = unforeseen_name(path);
      file.reset(::open(tried.c_str(), O_CREAT | O_EXCL | O_NOFOLLOW | O_WRONLY | O_CLOEXEC, mode));
      if (file.is_open()) return tried;
      if (errno != EEXIST) fail(path, "cannot be written");
    }
  });
  return file;
}

namespace {
bool is_same(const struct stat& a, const struct stat& b) {
  return a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

/// Where `path` leads to a standard stream of this process, a device or a pipe, that, open: a rename would put a file in its place,
/// be it /dev/null. Otherwise none.
Descriptor open_in_place(const fs::path& path) {
  struct stat status {
  }, own{};
  if (::stat(path.c_str(), &status) != 0) return Descriptor();
  for (const int stream : {STDOUT_FILENO, STDERR_FILENO})
    if (::fstat(stream, &own) == 0 && is_same(status, own))
      return Descriptor(::fcntl(stream, F_DUPFD_CLOEXEC, STDERR_FILENO + 1));
  if (S_ISREG(status.st_mode) || S_ISDIR(status.st_mode)) return Descriptor();
  errno = EINVAL;
  const bool is_taken = S_ISCHR(status.st_mode) || S_ISFIFO(status.st_mode);
  // Without waiting for somebody to read from it, should it be a pipe.
  Descriptor file(is_taken ? ::open(path.c_str(), O_WRONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK)
                           : -1);
  if (!file.is_open() || ::fcntl(file.number(), F_SETFL, 0) != 0) fail(path, "cannot be written");
  return file;
}

bool write_pieces(const Descriptor& file, std::span<const std::string_view> pieces) {
  for (const std::string_view piece : pieces)
    if (!write_all(file.number(), piece)) return false;
  return true;
}
}  // namespace

void write_file_atomically(const fs::path& path, std::string_view bytes, bool sync) {
  write_file_atomically(path, std::span(&bytes, 1), sync);
}

void write_file_atomically(const fs::path& path, std::span<const std::string_view> pieces,
                           bool sync) {
  if (const Descriptor open = open_in_place(path); open.is_open()) {
    if (!write_pieces(open, pieces)) fail(path, "cannot be written");
    return;
  }
  fs::path temporary;
  Descriptor file = create_file_beside(path, 0644, temporary);
  bool ok = write_pieces(file, pieces);
  if (ok && sync) ok = ::fsync(file.number()) == 0;
  file.reset();
  const bool is_renamed = ok && ::rename(temporary.c_str(), path.c_str()) == 0;
  const int cause = errno;
  if (!is_renamed) ::unlink(temporary.c_str());
  forget_unfinished(temporary);
  errno = cause;
  if (!is_renamed) fail(path, "cannot be written");
  if (sync) sync_path(path.has_parent_path() ? path.parent_path() : ".");
}

void sync_path(const fs::path& path) {
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.is_open() || ::fsync(file.number()) != 0) fail(path, "cannot be synced");
}

}  // namespace aoe
