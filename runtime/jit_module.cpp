// Loading a shared object from memory: memfd_create and dlopen of its /proc path.
#include "runtime/jit_module.h"

#include <dlfcn.h>
#include <sys/mman.h>

#include <cerrno>
#include <cstring>

#include "base/error.h"
#include "base/system_calls.h"

namespace aoe::runtime {
namespace {

[[noreturn]] void refuse_code(const std::string& where, const std::string& cause) {
  throw Error(ExitCode::kOm, "its generated code cannot be loaded: " + cause, where);
}

Descriptor memory_file_with(std::string_view bytes, const std::string& where) {
  Descriptor file(::memfd_create("aoe_code", MFD_CLOEXEC));
  if (file.is_open() && write_all(file.number(), bytes)) return file;
  refuse_code(where, std::strerror(errno));
}

}  // namespace

JitModule::JitModule(std::string_view elf, const std::string& where)
    : where_(where), file_(memory_file_with(elf, where)) {
  // The file stays open as long as the module: the loader knows modules by name, so that a second
  // one under a reused descriptor number would silently be taken for the first.
  const std::string path = "/proc/self/fd/" + std::to_string(file_.number());
  handle_ = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle_ != nullptr) return;
  refuse_code(where_, ::dlerror());
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
