// Lowers loop-nest Functions to machine code with LLVM and links them into one ELF shared object,
// in process. The only header of the project behind which LLVM stands.
#pragma once

#include <span>
#include <string>

#include "compiler/cut_off.h"
#include "compiler/loopnest/loopnest.h"
#include "compiler/soc.h"

namespace aoe::compiler::loopnest {

/// Compiles all functions for the ISA of `soc` and returns the bytes of an ELF shared object that
/// exports each Function under its name and needs no other library; empty when there are none.
/// Deterministic: equal functions give equal bytes, whatever `threads`, which says how many compile
/// at a time. Throws InternalError if LLVM rejects a function (a bug of ours), and CutOff. Thread-safe.
std::string compile_shared_object(std::span<const Function> functions, const Soc& soc,
                                  int threads = 1, const IsCutOff& is_cut_off = {});

/// The textual LLVM IR, after optimisation when `optimised`; for dumps and tests.
std::string llvm_ir(const Function& function, const Soc& soc, bool optimised);
/// Assembly text; for dumps (`--op_debug_level`) and for people.
std::string assembly(const Function& function, const Soc& soc);

}  // namespace aoe::compiler::loopnest
