// See float64_functions.h. The polynomials are the functions' series, to where what is left out is below 1e-17.
#include "compiler/loopnest/float64_functions.h"

#include <llvm/IR/Constants.h>
#include <llvm/IR/Intrinsics.h>

#include <limits>

#include "base/check.h"

namespace aoe::compiler::loopnest {
namespace float64 {  // its names are those of vector_math.cpp
namespace {

using llvm::Value;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kLn2High = 0x1.62e42feep-1;       // 32 bits of ln 2: a multiple of it is exact ...
constexpr double kLn2Low = 0x1.a39ef35793c76p-33;  // ... and what they leave
constexpr double kLog2E = 1.4426950408889634;
/// 1.5 * 2^52: adding it rounds to an integer, which then stands in the low bits of the sum.
constexpr double kRoundingMagic = 0x1.8p52;
constexpr std::uint64_t kRoundingMagicBits = 0x4338000000000000u;
constexpr int kMantissaBits = 52;
constexpr std::uint64_t kExponentBias = 1023;

llvm::Value* bits_constant(Value* like, std::uint64_t value) {
  return llvm::ConstantInt::get(int_type(like, 64), value);
}

Value* magnitude(IrBuilder& ir, Value* x) {
  return ir.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, x);
}

/// x = n * ln 2 + r with |r| <= ln 2 / 2.
struct ReducedExp {
  Value* n;                ///< int64 lanes
  Value* fraction_minus1;  ///< e^r - 1, accurate relative to r
};

ReducedExp reduce_exp(IrBuilder& ir, Value* x) {
  Value* shifted = emit_fma(ir, x, constant(x, kLog2E), constant(x, kRoundingMagic));
  Value* n = ir.CreateFSub(shifted, constant(x, kRoundingMagic));
  Value* r = emit_fma(ir, n, constant(x, -kLn2High), x);
  r = emit_fma(ir, n, constant(x, -kLn2Low), r);
  Value* q =
      polynomial(ir, r,
                 {1.0 / 2, 1.0 / 6, 1.0 / 24, 1.0 / 120, 1.0 / 720, 1.0 / 5040, 1.0 / 40320,
                  1.0 / 362880, 1.0 / 3628800, 1.0 / 39916800, 1.0 / 479001600, 1.0 / 6227020800});
  Value* fraction_minus1 = emit_fma(ir, ir.CreateFMul(r, r), q, r);
  Value* bits = ir.CreateBitCast(shifted, int_type(x, 64));
  return {ir.CreateSub(bits, bits_constant(x, kRoundingMagicBits)), fraction_minus1};
}

/// 2^n for -1022 <= n <= 1023.
Value* power_of_two(IrBuilder& ir, Value* n, Value* like) {
  Value* biased = ir.CreateAdd(n, bits_constant(like, kExponentBias));
  return ir.CreateBitCast(ir.CreateShl(biased, kMantissaBits), like->getType());
}

/// By two powers of two, so that the largest and the denormal results are reached.
Value* emit_exp64(IrBuilder& ir, Value* x) {
  x = emit_min(ir, constant(x, 710), emit_max(ir, constant(x, -746), x));
  const ReducedExp e = reduce_exp(ir, x);
  Value* half = ir.CreateAShr(e.n, 1);
  Value* fraction = ir.CreateFAdd(e.fraction_minus1, constant(x, 1));
  Value* scaled = ir.CreateFMul(fraction, power_of_two(ir, half, x));
  return ir.CreateFMul(scaled, power_of_two(ir, ir.CreateSub(e.n, half), x));
}

/// e^x - 1 for |x| < 700, accurate near zero.
Value* emit_expm1_64(IrBuilder& ir, Value* x) {
  const ReducedExp e = reduce_exp(ir, x);
  Value* scale = power_of_two(ir, e.n, x);
  return emit_fma(ir, scale, e.fraction_minus1, ir.CreateFSub(scale, constant(x, 1)));
}

/// Of x = m * 2^e with m in [sqrt(1/2), sqrt(2)): log m = f - (f^2/2 - s (f^2/2 + R)) with f = m - 1 and s = f / (2 + f),
/// R = 2/3 s^2 + 2/5 s^4 + ...
Value* emit_log64(IrBuilder& ir, Value* x) {
  constexpr std::uint64_t kSqrtHalfBits = 0x3fe6a09e667f3bcdu;
  constexpr int kDenormalShift = 54;
  Value* is_denormal = ir.CreateFCmpOLT(x, constant(x, 0x1p-1022));
  Value* normal = ir.CreateSelect(is_denormal, ir.CreateFMul(x, constant(x, 0x1p54)), x);
  Value* bits = ir.CreateBitCast(normal, int_type(x, 64));
  Value* e = ir.CreateAShr(ir.CreateSub(bits, bits_constant(x, kSqrtHalfBits)), kMantissaBits);
  Value* m = ir.CreateBitCast(ir.CreateSub(bits, ir.CreateShl(e, kMantissaBits)), x->getType());
  Value* exponent = ir.CreateSIToFP(e, x->getType());
  exponent =
      ir.CreateSelect(is_denormal, ir.CreateFSub(exponent, constant(x, kDenormalShift)), exponent);
  Value* f = ir.CreateFSub(m, constant(x, 1));
  Value* s = ir.CreateFDiv(f, ir.CreateFAdd(f, constant(x, 2)));
  Value* z = ir.CreateFMul(s, s);
  Value* r = polynomial(ir, z,
                        {2.0 / 3, 2.0 / 5, 2.0 / 7, 2.0 / 9, 2.0 / 11, 2.0 / 13, 2.0 / 15, 2.0 / 17,
                         2.0 / 19, 2.0 / 21, 2.0 / 23});
  Value* half_square = ir.CreateFMul(ir.CreateFMul(f, f), constant(x, 0.5));
  Value* tail = emit_fma(ir, z, r, half_square);
  tail = emit_fma(ir, s, tail, ir.CreateFMul(exponent, constant(x, kLn2Low)));
  Value* fraction = ir.CreateFSub(f, ir.CreateFSub(half_square, tail));
  Value* result = emit_fma(ir, exponent, constant(x, kLn2High), fraction);
  result = ir.CreateSelect(ir.CreateFCmpOEQ(x, constant(x, kInfinity)), x, result);
  result = ir.CreateSelect(ir.CreateFCmpOEQ(x, constant(x, 0)), constant(x, -kInfinity), result);
  Value* nan = llvm::ConstantFP::getNaN(x->getType());
  return ir.CreateSelect(ir.CreateFCmpULT(x, constant(x, 0)), nan, result);
}

/// tanh |x| = t / (t + 2) with t = e^(2|x|) - 1; beyond 22 it is 1 in float64.
Value* emit_tanh64(IrBuilder& ir, Value* x) {
  Value* size = magnitude(ir, x);
  Value* t = emit_expm1_64(ir, emit_min(ir, constant(x, 44), ir.CreateFAdd(size, size)));
  return ir.CreateCopySign(ir.CreateFDiv(t, ir.CreateFAdd(t, constant(x, 2))), x);
}

/// As those of float32 in vector_functions.cpp.
Value* emit_sinh64(IrBuilder& ir, Value* x) {
  Value* half = ir.CreateFMul(magnitude(ir, x), constant(x, 0.5));
  Value* u = emit_expm1_64(ir, emit_min(ir, constant(x, 356), half));
  Value* h = ir.CreateFMul(ir.CreateFMul(constant(x, 0.5), u), ir.CreateFAdd(u, constant(x, 2)));
  Value* bounded = emit_min(ir, constant(x, 1e18), h);
  Value* tail = ir.CreateFDiv(bounded, emit_fma(ir, bounded, constant(x, 2), constant(x, 1)));
  return ir.CreateCopySign(ir.CreateFAdd(h, tail), x);
}

Value* emit_cosh64(IrBuilder& ir, Value* x) {
  Value* e = emit_exp64(ir, ir.CreateFMul(magnitude(ir, x), constant(x, 0.5)));
  Value* h = ir.CreateFMul(e, constant(x, 0.5));
  return emit_fma(ir, h, e, ir.CreateFDiv(constant(x, 0.5), ir.CreateFMul(e, e)));
}

}  // namespace
}  // namespace float64

llvm::Value* emit_float64(IrBuilder& ir, Op op, llvm::Value* x) {
  switch (op) {
    case Op::kExp:
      return float64::emit_exp64(ir, x);
    case Op::kLog:
      return float64::emit_log64(ir, x);
    case Op::kTanh:
      return float64::emit_tanh64(ir, x);
    case Op::kSinh:
      return float64::emit_sinh64(ir, x);
    case Op::kCosh:
      return float64::emit_cosh64(ir, x);
    case Op::kErf:
    case Op::kSin:
    case Op::kCos:
    case Op::kTan:
    case Op::kAsin:
    case Op::kAcos:
    case Op::kAtan:
    case Op::kAsinh:
    case Op::kAcosh:
    case Op::kAtanh:
      AOE_CHECK(false, "no such function of float64 vectors");
    default:
      return nullptr;
  }
}

}  // namespace aoe::compiler::loopnest
