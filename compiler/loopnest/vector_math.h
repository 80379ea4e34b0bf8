// Vector arithmetic that LLVM has no cheap form for, as inline instruction sequences:
// NaN-propagating min and max, polynomial exp, log, tanh and erf. Internal to codegen.
//
// All functions take float or <n x float> values, those that say so double as well, and append to the builder's block. What of
// float64 is not written for both lies in float64_functions.h.
#pragma once

#include <llvm/IR/IRBuilder.h>

#include <functional>
#include <initializer_list>
#include <vector>

#include "compiler/loopnest/loopnest.h"

namespace aoe::compiler::loopnest {

using IrBuilder = llvm::IRBuilder<>;

/// LLVM's type for lanes, or for one.
llvm::Type* lane_type(IrBuilder& ir, Type type, int lanes);
/// The words of narrow lanes, i32 or a vector of it: code for them is the same whatever they hold.
llvm::Value* words_of(IrBuilder& ir, llvm::Value* narrow);
/// i32 or i64 with as many lanes as `like`.
llvm::Type* int_type(llvm::Value* like, unsigned bits = 32);
llvm::Value* constant(llvm::Value* like, double value);
llvm::Value* int_constant(llvm::Value* like, std::uint32_t value);
bool is_double(llvm::Value* x);
/// Integers as wide as the lanes of `like`.
llvm::Type* bits_type(llvm::Value* like);
llvm::Value* bits_constant(llvm::Value* like, std::uint64_t value);
llvm::Value* magnitude(IrBuilder& ir, llvm::Value* x);
/// coefficients[0] + x * (coefficients[1] + ...): of double by Horner's rule, of float pair by pair (Estrin), as a processor has room
/// for few instructions that wait for others (erf by Horner's rule takes 1.27 times as long on a Zen 5 core).
llvm::Value* polynomial(IrBuilder& ir, llvm::Value* x, std::initializer_list<double> coefficients);

/// ln 2 as a sum of two, of which a multiple of the first is exact or nearly so.
struct Ln2 {
  double high, low;
};
inline constexpr Ln2 kLn2Float{0x1.62e430p-1, -0x1.05c610p-29};
inline constexpr Ln2 kLn2Double{0x1.62e42feep-1, 0x1.a39ef35793c76p-33};

/// x = n * ln 2 + r with |r| <= ln 2 / 2.
struct ReducedExp {
  llvm::Value* n;                ///< integer lanes
  llvm::Value* fraction_minus1;  ///< e^r - 1, accurate relative to r; of float to 8e-9
};
ReducedExp reduce_exp(IrBuilder& ir, llvm::Value* x);
/// 2^n where that is no denormal number: -126 <= n <= 127, of double -1022 <= n <= 1023.
llvm::Value* power_of_two(IrBuilder& ir, llvm::Value* n, llvm::Value* like);
/// `result`, but for x that is no positive number or infinite.
llvm::Value* with_special_logs(IrBuilder& ir, llvm::Value* x, llvm::Value* result);

/// The values with lanes of `mask` replaced by those that `rare()` computes, which is skipped where no lane asks for it.
using Values = std::vector<llvm::Value*>;
Values with_rare(IrBuilder& ir, llvm::Value* mask, const Values& usual,
                 const std::function<Values()>& rare);

/// One vminps/vmaxps when an operand is a constant, three instructions otherwise; double as well, and fma.
llvm::Value* emit_min(IrBuilder& ir, llvm::Value* a, llvm::Value* b);
llvm::Value* emit_max(IrBuilder& ir, llvm::Value* a, llvm::Value* b);
/// Of all lanes, in one.
llvm::Value* emit_reduce_max(IrBuilder& ir, llvm::Value* a);
llvm::Value* emit_reduce_min(IrBuilder& ir, llvm::Value* a);
llvm::Value* emit_max3(IrBuilder& ir, llvm::Value* a, llvm::Value* b, llvm::Value* c);
llvm::Value* emit_fma(IrBuilder& ir, llvm::Value* a, llvm::Value* b, llvm::Value* c);

// Of float and double. Errors of double: 4 units of the last place or 1e-15, whichever is larger.

/// e^x - 1 for |x| < 80, of double 700, accurate near zero.
llvm::Value* emit_expm1(IrBuilder& ir, llvm::Value* x);
llvm::Value* emit_sigmoid(IrBuilder& ir, llvm::Value* x);
#define REAL_FUNCTION(op, function) llvm::Value* emit_##function(IrBuilder& ir, llvm::Value* x);
#include "base/real_functions.inc"
#undef REAL_FUNCTION

/// Finite float x > 0 is mantissa * 2^exponent with a mantissa in [sqrt(1/2), sqrt(2)).
struct Split {
  llvm::Value* mantissa;
  llvm::Value* exponent;  ///< int32 lanes
};
Split emit_split(IrBuilder& ir, llvm::Value* x);

/// Of half; `has_fp16`: the Soc has an instruction.
llvm::Value* emit_fma_f16(IrBuilder& ir, llvm::Value* a, llvm::Value* b, llvm::Value* sum,
                          bool has_fp16);

}  // namespace aoe::compiler::loopnest
