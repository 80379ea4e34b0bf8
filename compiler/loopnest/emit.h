// LLVM's side of code generation: the fixed pass pipeline, emission. Internal to codegen.
#pragma once

#include <llvm/IR/Module.h>
#include <llvm/Support/CodeGen.h>
#include <llvm/Target/TargetMachine.h>

#include <string>

namespace aoe::compiler::loopnest {

/// Scalar clean-up only: schedules are decided in the loop nest, so nothing here unrolls,
/// vectorises or reorders loops.
void optimise(llvm::Module& module, llvm::TargetMachine& machine);

/// Object file or assembly text.
std::string emit(llvm::Module& module, llvm::TargetMachine& machine, llvm::CodeGenFileType type);

}  // namespace aoe::compiler::loopnest
