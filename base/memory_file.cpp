#include "base/memory_file.h"

#include <sys/mman.h>

#include <cerrno>

namespace aoe {
namespace {
constexpr unsigned kNeverAProgram =
    0x8;  // MFD_NOEXEC_SEAL of Linux 6.3, which may be mapped and loaded all the same
}

Descriptor make_memory_file(const char* name) {
  Descriptor file(::memfd_create(name, MFD_CLOEXEC));
  // Some containers allow no others (sysctl vm.memfd_noexec=2).
  if (!file.is_open() && errno == EACCES)
    file.reset(::memfd_create(name, MFD_CLOEXEC | kNeverAProgram));
  return file;
}

std::string path_in_proc(const Descriptor& file) {
  return "/proc/self/fd/" + std::to_string(file.number());
}

}  // namespace aoe
