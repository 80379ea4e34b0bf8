// Loading a shared object from memory: a file there, and dlopen of its /proc path. What this process lacks is told from what is
// wrong with the code.
#include "runtime/jit_module.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/error.h"
#include "base/memory.h"
#include "base/memory_file.h"
#include "base/system_calls.h"

namespace aoe::runtime {
namespace {

constexpr const char* kCannotBeLoaded = "its generated code cannot be loaded: ";

[[noreturn]] void refuse_code(const std::string& where, const std::string& cause) {
  throw Error(ExitCode::kOm, kCannotBeLoaded + cause, where);
}

Descriptor memory_file_with(std::string_view bytes, const std::string& where) {
  Descriptor file = make_memory_file("aoe_code");
  if (file.is_open() && write_all(file.number(), bytes)) return file;
  throw Error(ExitCode::kFailure, kCannotBeLoaded + std::string(std::strerror(errno)), where,
              "free memory, or raise ulimit -n");
}

/// The loader says no more than that it failed. Throws OutOfMemory or Error where this process could not have loaded any code.
void check_resources(const std::string& where, std::size_t bytes, const std::string& path) {
  if (::access(path.c_str(), F_OK) != 0)
    throw Error(ExitCode::kFailure, kCannotBeLoaded + std::string("there is no ") + path, where,
                "mount /proc, by which the loader finds it");
  const Descriptor descriptor(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!descriptor.is_open())
    throw Error(ExitCode::kFailure, kCannotBeLoaded + std::string(std::strerror(errno)), where,
                "raise ulimit -n");
  // Behind the file's bytes there are pages for what it leaves empty.
  const std::size_t span = 2 * bytes;
  void* const place =
      ::mmap(nullptr, span, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (place == MAP_FAILED)
    throw OutOfMemory(where + ": its generated code: no room for " + std::to_string(span >> 10) +
                      " KiB in memory; use a larger machine, or raise ulimit -v");
  ::munmap(place, span);
}

}  // namespace

JitModule::JitModule(std::string_view elf, const std::string& where)
    : where_(where), file_(memory_file_with(elf, where)) {
  // The file stays open as long as the module: the loader knows modules by name, so that a second
  // one under a reused descriptor number would silently be taken for the first.
  const std::string path = path_in_proc(file_);
  handle_ = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle_ != nullptr) return;
  const std::string cause = ::dlerror();
  check_resources(where, elf.size(), path);
  refuse_code(where_, cause);
}

JitModule::~JitModule() {
  ::dlclose(handle_);
}

StageFunction JitModule::find(const std::string& symbol) const {
  void* address = ::dlsym(handle_, symbol.c_str());
  if (address == nullptr) refuse_code(where_, "it has no function '" + symbol + "'");
  return reinterpret_cast<StageFunction>(address);
}

}  // namespace aoe::runtime
