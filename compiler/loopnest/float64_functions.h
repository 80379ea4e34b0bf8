// What exponentials and logarithms of float64 have of their own beside those of vector_math.h, which are the ones to call.
// Internal to codegen.
#pragma once

#include "compiler/loopnest/vector_math.h"

namespace aoe::compiler::loopnest {

// Of double or <n x double>, within 4 units of the last place or 1e-15, whichever is larger; exp and log within 2.

llvm::Value* emit_exp64(IrBuilder& ir, llvm::Value* x);
llvm::Value* emit_log64(IrBuilder& ir, llvm::Value* x);
llvm::Value* emit_erf64(IrBuilder& ir, llvm::Value* x);

/// The logarithm of x >= 0 as a sum, `low` being what `high` lacks: together to 2^-63 of it. Where `high` is not finite, `low`
/// is anything.
struct LongLog {
  llvm::Value *high, *low;
};
LongLog emit_long_log64(IrBuilder& ir, llvm::Value* x);

}  // namespace aoe::compiler::loopnest
