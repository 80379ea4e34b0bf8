// Functions of float64 vectors, as inline instruction sequences like those of vector_math.h. Internal to codegen.
#pragma once

#include "compiler/loopnest/vector_math.h"

namespace aoe::compiler::loopnest {

/// kExp, kLog, kTanh, kSinh or kCosh of double or <n x double>, within 4 units of the last place or 1e-15, whichever is
/// larger. Null for operations that LLVM has for all types; those that are missing fail an AOE_CHECK.
llvm::Value* emit_float64(IrBuilder& ir, Op op, llvm::Value* x);

}  // namespace aoe::compiler::loopnest
