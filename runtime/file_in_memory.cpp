// Opening, reading, mapping.
#include "runtime/file_in_memory.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
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

/// Huge pages are a wish: few kernels have them for files.
void* map_all(int fd, std::size_t size_bytes, const std::filesystem::path& path) {
  void* const mapping = ::mmap(nullptr, size_bytes, PROT_READ, MAP_PRIVATE, fd, 0);
  if (mapping == MAP_FAILED) cannot("mapped", path);
  ::madvise(mapping, size_bytes, MADV_HUGEPAGE);
  return mapping;
}

}  // namespace

FileAs file_as_from_environment() {
  const char* const value = std::getenv(kShareWeightsVariable);
  return value != nullptr && std::strcmp(value, "1") == 0 ? FileAs::kMapping : FileAs::kCopy;
}

FileInMemory::FileInMemory(const std::filesystem::path& path, FileAs as) {
  // Without waiting for somebody to write into it, should it be a pipe.
  const FileDescriptor file{::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)};
  if (file.fd < 0) cannot("opened", path);
  struct stat status {};
  if (::fstat(file.fd, &status) != 0) cannot("read", path);
  if (!S_ISREG(status.st_mode)) throw Error(ExitCode::kOm, "is not a regular file", path.string());
  if (status.st_size == 0) throw Error(ExitCode::kOm, "is empty", path.string());
  size_bytes_ = static_cast<std::size_t>(status.st_size);
  if (as == FileAs::kMapping) {
    mapping_ = map_all(file.fd, size_bytes_, path);
  } else {
    memory_ = AlignedMemory(size_bytes_);
    read_all(file.fd, memory_, path);
  }
}

FileInMemory::~FileInMemory() {
  if (mapping_ != nullptr) ::munmap(mapping_, size_bytes_);
}

}  // namespace aoe::runtime
