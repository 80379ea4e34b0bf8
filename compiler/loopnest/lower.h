// Lowers one Function to LLVM IR with explicit vectors. Internal to codegen.
#pragma once

#include <llvm/IR/Module.h>

#include "compiler/loopnest/loopnest.h"
#include "compiler/soc.h"

namespace aoe::compiler::loopnest {

/// Adds the function to `module` under its name, unoptimised.
llvm::Function* lower(const Function& function, const Soc& soc, llvm::Module& module);

}  // namespace aoe::compiler::loopnest
