// Opening and mapping.
#include "runtime/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
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

}  // namespace

MappedFile::MappedFile(const std::filesystem::path& path) {
  const std::string where = path.string();
  const auto cannot = [&](const char* action) {
    throw Error(ExitCode::kOm, std::string("cannot be ") + action + ": " + std::strerror(errno),
                where);
  };
  const FileDescriptor file{::open(path.c_str(), O_RDONLY | O_CLOEXEC)};
  if (file.fd < 0) cannot("opened");
  struct stat status {};
  if (::fstat(file.fd, &status) != 0) cannot("read");
  if (!S_ISREG(status.st_mode)) throw Error(ExitCode::kOm, "is not a regular file", where);
  if (status.st_size == 0) throw Error(ExitCode::kOm, "is empty", where);
  size_bytes_ = static_cast<std::size_t>(status.st_size);
  // Populated: verification reads every byte anyway.
  void* const address =
      ::mmap(nullptr, size_bytes_, PROT_READ, MAP_PRIVATE | MAP_POPULATE, file.fd, 0);
  if (address == MAP_FAILED) cannot("mapped");
  address_ = address;
}

MappedFile::~MappedFile() {
  ::munmap(const_cast<void*>(address_), size_bytes_);
}

}  // namespace aoe::runtime
