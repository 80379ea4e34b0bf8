// The rarer functions of vectors, as inline instruction sequences like those of vector_math.h, which declares them: the trigonometric
// and hyperbolic functions and their inverses, and division of integers. Internal to codegen.
//
// Of float and double. Errors in units of the last place, or 1e-7 absolute (float32) and 1e-15 (float64) where that is more;
// NaN and infinities go in and come out as of the C library, and zeros keep their sign where they do there:
//   sin cos      2 for all arguments, the largest too: see angles.h
//   tan          4
//   asin acos atan, sinh cosh, asinh acosh atanh   4
#pragma once

#include "compiler/loopnest/vector_math.h"

namespace aoe::compiler::loopnest {

/// Toward zero; 0 where b is 0, and the smallest number by -1 wraps around. Of 32 or 64 bits.
llvm::Value* emit_int_divide(IrBuilder& ir, llvm::Value* a, llvm::Value* b, bool is_signed);

}  // namespace aoe::compiler::loopnest
