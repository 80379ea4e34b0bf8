// Opening, reading, mapping.
#include "runtime/file_in_memory.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <future>
#include <string>
#include <vector>

#include "base/descriptor.h"
#include "base/error.h"
#include "base/memory.h"
#include "runtime/threads/host_cores.h"

namespace aoe::runtime {
namespace {

/// What loading an om takes at least beside its bytes: its graph, page tables, stacks.
constexpr std::size_t kBesideFileBytes = std::size_t{2} << 20;

[[noreturn]] void cannot(const char* action, const std::filesystem::path& path) {
  throw Error(ExitCode::kOm, std::string("cannot be ") + action + ": " + std::strerror(errno),
              path.string());
}

/// The bytes from `begin` to `end`; a signal or the kernel's limit ends a pread() early.
void read_part(int fd, const AlignedMemory& memory, std::size_t begin, std::size_t end,
               const std::filesystem::path& path) {
  while (begin < end) {
    const ssize_t got = ::pread(fd, memory.at(begin), end - begin, static_cast<::off_t>(begin));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) cannot("read", path);
    if (got == 0) throw Error(ExitCode::kOm, "became shorter while it was read", path.string());
    begin += static_cast<std::size_t>(got);
  }
}

/// Large files by several threads: more than the copy takes what the kernel does to give the process its pages.
void read_all(int fd, const AlignedMemory& memory, const std::filesystem::path& path) {
  constexpr std::size_t kLeastPart = std::size_t{32} << 20, kHugePage = std::size_t{2} << 20;
  constexpr std::size_t kMostThreads = 4;
  const std::size_t size_bytes = memory.size_bytes();
  std::size_t parts = std::clamp<std::size_t>(size_bytes / kLeastPart, 1, kMostThreads);
  if (parts > 1) parts = std::min(parts, static_cast<std::size_t>(host_cores().usable()));
  const std::size_t part_bytes = size_bytes / parts / kHugePage * kHugePage;
  std::vector<std::future<void>> others;
  for (std::size_t part = 1; part < parts; ++part)
    // Deferred, and read by the caller, where no thread can be started.
    others.push_back(std::async(std::launch::async | std::launch::deferred, [&, part] {
      read_part(fd, memory, part * part_bytes,
                part + 1 == parts ? size_bytes : (part + 1) * part_bytes, path);
    }));
  read_part(fd, memory, 0, parts == 1 ? size_bytes : part_bytes, path);
  for (std::future<void>& other : others) other.get();
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
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!file.is_open()) cannot("opened", path);
  struct stat status {};
  if (::fstat(file.number(), &status) != 0) cannot("read", path);
  if (!S_ISREG(status.st_mode)) throw Error(ExitCode::kOm, "is not a regular file", path.string());
  if (status.st_size == 0) throw Error(ExitCode::kOm, "is empty", path.string());
  size_bytes_ = static_cast<std::size_t>(status.st_size);
  if (as == FileAs::kMapping) {
    mapping_ = map_all(file.number(), size_bytes_, path);
  } else {
    check_memory(size_bytes_ + kBesideFileBytes, path.string());
    memory_ = AlignedMemory(size_bytes_);
    read_all(file.number(), memory_, path);
  }
}

FileInMemory::~FileInMemory() {
  if (mapping_ != nullptr) ::munmap(mapping_, size_bytes_);
}

}  // namespace aoe::runtime
