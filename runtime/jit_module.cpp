// Loading a shared object from memory: a file there, and dlopen of its /proc path.
#include "runtime/jit_module.h"

#include <dlfcn.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/error.h"
#include "base/memory_file.h"
#include "base/system_calls.h"

namespace aoe::runtime {
namespace {

[[noreturn]] void refuse_code(const std::string& where, const std::string& cause,
                              const std::string& advice = {}) {
  throw Error(ExitCode::kOm, "its generated code cannot be loaded: " + cause, where, advice);
}

/// Of a loader that did not find what was just written: by its path in /proc.
std::string advice_without_proc(const std::string& path) {
  return ::access(path.c_str(), F_OK) == 0 ? "" : "mount /proc, by which the loader finds it";
}

Descriptor memory_file_with(std::string_view bytes, const std::string& where) {
  Descriptor file = make_memory_file("aoe_code");
  if (file.is_open() && write_all(file.number(), bytes)) return file;
  refuse_code(where, std::strerror(errno));
}

}  // namespace

JitModule::JitModule(std::string_view elf, const std::string& where)
    : where_(where), file_(memory_file_with(elf, where)) {
  // The file stays open as long as the module: the loader knows modules by name, so that a second
  // one under a reused descriptor number would silently be taken for the first.
  const std::string path = path_in_proc(file_);
  handle_ = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle_ != nullptr) return;
  refuse_code(where_, ::dlerror(), advice_without_proc(path));
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
