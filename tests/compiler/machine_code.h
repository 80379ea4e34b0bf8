// MachineCode: loads the ELF shared object that compile_shared_object() returns into this process
// and finds its functions.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "compiler/loopnest/loopnest.h"
#include "compiler/soc.h"

namespace aoe::compiler::loopnest {

using KernelFunction = void (*)(void* const* buffers, std::int64_t begin, std::int64_t end,
                                void* scratch);

class MachineCode {
 public:
  explicit MachineCode(const std::string& elf_bytes);
  ~MachineCode();
  MachineCode(const MachineCode&) = delete;
  MachineCode& operator=(const MachineCode&) = delete;
  KernelFunction function(const std::string& name) const;

 private:
  void* handle_ = nullptr;
};

/// The instruction sets that tests compile for and this machine can run: AVX2 always, AVX-512 where
/// it is there.
std::span<const Soc> test_socs();
/// These, and again with VNNI what of them has it.
std::span<const Soc> quantised_test_socs();

/// What Impls are asked about: all of these, and AVX-512 (quantised: with VNNI as well) where this machine lacks it, so that plans of
/// its vectors are tested everywhere.
std::vector<Soc> planned_socs(bool is_quantised);
/// Runs what is planned for `soc`: `soc` itself, or the last of test_socs() where this machine has not its instructions. LLVM splits
/// vectors that are too long for it.
const Soc& machine_for(const Soc& soc);

/// With tiles, and what every processor that has them has.
const Soc& tile_soc();
/// It has tiles and this machine has none: kernels that use them go through the interpreter (loopnest_eval.h).
bool is_interpreted(const Soc& soc);

/// Compiles `function` alone and runs all its parallel iterations on this thread.
void compile_and_run(const Function& function, const Soc& soc, std::span<void* const> buffers);

}  // namespace aoe::compiler::loopnest
