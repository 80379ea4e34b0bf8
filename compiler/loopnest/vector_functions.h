// The rarer functions of vectors, as inline instruction sequences like those of vector_math.h: the trigonometric and
// hyperbolic functions and their inverses, and division of integers. Internal to codegen.
//
// Of float and double. Errors in units of the last place, or 1e-7 absolute (float32) and 1e-15 (float64) where that is more;
// NaN and infinities go in and come out as of the C library, and zeros keep their sign where they do there:
//   sin cos      2 for all arguments, the largest too: see angles.h
//   tan          4
//   asin acos atan, sinh cosh, asinh acosh atanh   4
#pragma once

#include "compiler/loopnest/vector_math.h"

namespace aoe::compiler::loopnest {

llvm::Value* emit_sin(IrBuilder& ir, llvm::Value* x);
llvm::Value* emit_cos(IrBuilder& ir, llvm::Value* x);
llvm::Value* emit_tan(IrBuilder& ir, llvm::Value* x);
llvm::Value* emit_asin(IrBuilder& ir, llvm::Value* x);
llvm::Value* emit_acos(IrBuilder& ir, llvm::Value* x);
llvm::Value* emit_atan(IrBuilder& ir, llvm::Value* x);
llvm::Value* emit_sinh(IrBuilder& ir, llvm::Value* x);
llvm::Value* emit_cosh(IrBuilder& ir, llvm::Value* x);
llvm::Value* emit_asinh(IrBuilder& ir, llvm::Value* x);
llvm::Value* emit_acosh(IrBuilder& ir, llvm::Value* x);
llvm::Value* emit_atanh(IrBuilder& ir, llvm::Value* x);

/// Toward zero; 0 where b is 0, and the smallest number by -1 wraps around. Of 32 or 64 bits.
llvm::Value* emit_int_divide(IrBuilder& ir, llvm::Value* a, llvm::Value* b, bool is_signed);

}  // namespace aoe::compiler::loopnest
