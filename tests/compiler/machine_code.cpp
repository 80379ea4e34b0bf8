// See machine_code.h.
#include "tests/compiler/machine_code.h"

#include <dlfcn.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>
#include <memory>
#include <vector>

#include "base/check.h"
#include "compiler/loopnest/codegen.h"

namespace aoe::compiler::loopnest {
namespace {

Soc avx512() {
  return {
      .version = "avx512", .target = find_target("avx512"), .llvm_cpu = "x86-64-v4", .threads = 2};
}

Soc with_vnni(Soc soc) {
  soc.version += "_vnni";
  soc.features.add(Feature::kVnni);
  return soc;
}

}  // namespace

MachineCode::MachineCode(const std::string& elf_bytes) {
  const int file = memfd_create("kernels", MFD_CLOEXEC);
  AOE_CHECK(file >= 0, "memfd_create failed");
  const auto written = write(file, elf_bytes.data(), elf_bytes.size());
  AOE_CHECK(written == static_cast<ssize_t>(elf_bytes.size()), "short write");
  handle_ = dlopen(("/proc/self/fd/" + std::to_string(file)).c_str(), RTLD_NOW | RTLD_LOCAL);
  const std::string why = handle_ == nullptr ? dlerror() : "";
  close(file);
  AOE_CHECK(handle_ != nullptr, why);
}

MachineCode::~MachineCode() {
  dlclose(handle_);
}

KernelFunction MachineCode::function(const std::string& name) const {
  void* symbol = dlsym(handle_, name.c_str());
  AOE_CHECK(symbol != nullptr, name + " is not exported");
  return reinterpret_cast<KernelFunction>(symbol);
}

std::span<const Soc> test_socs() {
  static const std::vector<Soc> socs = [] {
    std::vector<Soc> all = {
        {.version = "avx2", .target = find_target("avx2"), .llvm_cpu = "x86-64-v3", .threads = 2}};
    if (runtime::host_supports("avx512")) {
      all.push_back(avx512());
      if (runtime::host_supports("avx512_bf16")) all.back().features.add(Feature::kBf16);
    }
    return all;
  }();
  return socs;
}

std::span<const Soc> quantised_test_socs() {
  static const std::vector<Soc> socs = [] {
    std::vector<Soc> all(test_socs().begin(), test_socs().end());
    for (const Soc& soc : test_socs()) {
      if (!runtime::host_supports(runtime::isa_word(soc.target->name(), {Feature::kVnni})))
        continue;
      all.push_back(with_vnni(soc));
    }
    return all;
  }();
  return socs;
}

std::vector<Soc> planned_socs(bool is_quantised) {
  const std::span<const Soc> here = is_quantised ? quantised_test_socs() : test_socs();
  std::vector<Soc> socs(here.begin(), here.end());
  if (runtime::host_supports("avx512")) return socs;
  socs.push_back(avx512());
  if (is_quantised) socs.push_back(with_vnni(avx512()));
  return socs;
}

const Soc& machine_for(const Soc& soc) {
  const bool is_here = runtime::host_supports(runtime::isa_word(soc.target->name(), soc.features));
  return is_here ? soc : test_socs().back();
}

const Soc& tile_soc() {
  static const Soc soc = [] {
    Soc made = avx512();
    made.version = "avx512_amx";
    made.features = {Feature::kVnni, Feature::kBf16, Feature::kFp16, Feature::kAmx};
    return made;
  }();
  return soc;
}

bool is_interpreted(const Soc& soc) {
  return soc.has(Feature::kAmx) && !runtime::host_supports("avx512_amx");
}

void compile_and_run(const Function& function, const Soc& soc, std::span<void* const> buffers) {
  const MachineCode code(compile_shared_object({&function, 1}, soc));
  struct Free {
    void operator()(void* p) const { std::free(p); }
  };
  const auto bytes = static_cast<std::size_t>(function.scratch_bytes);
  const std::unique_ptr<void, Free> scratch(std::aligned_alloc(64, bytes == 0 ? 64 : bytes));
  code.function(function.name)(buffers.data(), 0, function.rounds * function.parallel_extent,
                               scratch.get());
}

}  // namespace aoe::compiler::loopnest
