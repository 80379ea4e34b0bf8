// JitModule: the code section of an om, loaded into the process without touching the disk.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/descriptor.h"

namespace aoe::runtime {

/// Runs parallel iterations [begin, end) of one stage. The ABI is in compiler/loopnest/loopnest.h.
using StageFunction = void (*)(void* const* buffers, std::int64_t begin, std::int64_t end,
                               void* scratch) noexcept;

class JitModule {
 public:
  /// Loads an ELF shared object. Throws Error(kOm) that names `where` when the loader refuses it.
  JitModule(std::string_view elf, const std::string& where);
  ~JitModule();
  JitModule(const JitModule&) = delete;
  JitModule& operator=(const JitModule&) = delete;

  /// Throws Error(kOm) when the code section has no such symbol. Valid as long as the module.
  StageFunction find(const std::string& symbol) const;

 private:
  std::string where_;
  Descriptor file_;
  void* handle_ = nullptr;
};

}  // namespace aoe::runtime
