// Opening and reading.
#include "runtime/file_in_memory.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>

#include "base/error.h"

namespace aoe::runtime {
namespace {

struct FileDescriptor {
  int fd;
  ~FileDescriptor() {
    if (fd >= 0) ::close(fd);
  }
};

[[noreturn]] void cannot(const char* action, const std::filesystem::path& path) {
  throw Error(ExitCode::kOm, std::string("cannot be ") + action + ": " + std::strerror(errno),
              path.string());
}

/// Until the memory is full; a signal or the kernel's limit ends a read() early.
void read_all(int fd, const AlignedMemory& memory, const std::filesystem::path& path) {
  std::size_t done = 0;
  while (done < memory.size_bytes()) {
    const ssize_t got = ::read(fd, memory.at(done), memory.size_bytes() - done);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) cannot("read", path);
    if (got == 0) throw Error(ExitCode::kOm, "became shorter while it was read", path.string());
    done += static_cast<std::size_t>(got);
  }
}

}  // namespace

FileInMemory::FileInMemory(const std::filesystem::path& path) {
  // Without waiting for somebody to write into it, should it be a pipe.
  const FileDescriptor file{::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)};
  if (file.fd < 0) cannot("opened", path);
  struct stat status {};
  if (::fstat(file.fd, &status) != 0) cannot("read", path);
  if (!S_ISREG(status.st_mode)) throw Error(ExitCode::kOm, "is not a regular file", path.string());
  if (status.st_size == 0) throw Error(ExitCode::kOm, "is empty", path.string());
  memory_ = AlignedMemory(static_cast<std::size_t>(status.st_size));
  read_all(file.fd, memory_, path);
}

}  // namespace aoe::runtime
