// Powers and remainders of vectors of float and double. Internal to codegen.
//
// NaN and infinities go in and come out as of the C library. fmod is exact, pow within 4 units of the last place.
#pragma once

#include "compiler/loopnest/vector_math.h"

namespace aoe::compiler::loopnest {

llvm::Value* emit_fmod(IrBuilder& ir, llvm::Value* x, llvm::Value* y);
llvm::Value* emit_pow(IrBuilder& ir, llvm::Value* x, llvm::Value* y);

}  // namespace aoe::compiler::loopnest
