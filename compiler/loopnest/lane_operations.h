// The operations of expressions that need no more than their operands, as instructions. Internal to codegen.
#pragma once

#include "compiler/loopnest/loopnest.h"
#include "compiler/loopnest/vector_math.h"

namespace aoe::compiler::loopnest {

llvm::Value* emit_unary(IrBuilder& ir, Op op, llvm::Value* a);
/// Of real numbers, integers or masks.
llvm::Value* emit_binary(IrBuilder& ir, Op op, llvm::Value* a, llvm::Value* b);

}  // namespace aoe::compiler::loopnest
