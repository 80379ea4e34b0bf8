// LLVM's side of code generation: target machine, the fixed pass pipeline, emission. Internal to
// codegen.
#pragma once

#include <llvm/IR/Module.h>
#include <llvm/Support/CodeGen.h>
#include <llvm/Target/TargetMachine.h>

#include <memory>
#include <string>

#include "compiler/soc.h"

namespace aoe::compiler::loopnest {

/// The instructions that generated code may use: "x86-64-v3" or "x86-64-v4".
const char* baseline_cpu(const Soc& soc);

/// Initialises LLVM on first use. Thread-safe; a TargetMachine itself serves one thread at a time.
std::unique_ptr<llvm::TargetMachine> make_target_machine(const Soc& soc);

/// Scalar clean-up only: schedules are decided in the loop nest, so nothing here unrolls,
/// vectorises or reorders loops.
void optimise(llvm::Module& module, llvm::TargetMachine& machine);

/// Object file or assembly text.
std::string emit(llvm::Module& module, llvm::TargetMachine& machine, llvm::CodeGenFileType type);

}  // namespace aoe::compiler::loopnest
