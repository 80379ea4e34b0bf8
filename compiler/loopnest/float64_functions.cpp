// See float64_functions.h. The polynomials are the functions' series, to where what is left out is below 1e-17.
#include "compiler/loopnest/float64_functions.h"

#include <llvm/IR/Constants.h>
#include <llvm/IR/Intrinsics.h>

#include <limits>
namespace aoe::compiler::loopnest {
namespace {

using llvm::Value;

namespace float64 {  // its names are those of vector_math.cpp

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kLn2High = 0x1.62e42feep-1;       // 32 bits of ln 2: a multiple of it is exact ...
constexpr double kLn2Low = 0x1.a39ef35793c76p-33;  // ... and what they leave
constexpr double kLog2E = 1.4426950408889634;
/// 1.5 * 2^52: adding it rounds to an integer, which then stands in the low bits of the sum.
constexpr double kRoundingMagic = 0x1.8p52;
constexpr std::uint64_t kRoundingMagicBits = 0x4338000000000000u;
constexpr int kMantissaBits = 52;
constexpr std::uint64_t kExponentBias = 1023;

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

/// Finite x > 0 is mantissa * 2^exponent with a mantissa in [sqrt(1/2), sqrt(2)).
struct Split {
  Value *mantissa, *exponent;
};

Split split(IrBuilder& ir, Value* x) {
  constexpr std::uint64_t kSqrtHalfBits = 0x3fe6a09e667f3bcdu;
  constexpr int kDenormalShift = 54;
  Value* is_denormal = ir.CreateFCmpOLT(x, constant(x, 0x1p-1022));
  Value* normal = ir.CreateSelect(is_denormal, ir.CreateFMul(x, constant(x, 0x1p54)), x);
  Value* bits = ir.CreateBitCast(normal, int_type(x, 64));
  Value* e = ir.CreateAShr(ir.CreateSub(bits, bits_constant(x, kSqrtHalfBits)), kMantissaBits);
  Value* m = ir.CreateBitCast(ir.CreateSub(bits, ir.CreateShl(e, kMantissaBits)), x->getType());
  Value* exponent = ir.CreateSIToFP(e, x->getType());
  Value* shifted = ir.CreateFSub(exponent, constant(x, kDenormalShift));
  return {m, ir.CreateSelect(is_denormal, shifted, exponent)};
}

/// The logarithm of what is no positive number.
Value* with_special_logs(IrBuilder& ir, Value* x, Value* result) {
  result = ir.CreateSelect(ir.CreateFCmpOEQ(x, constant(x, kInfinity)), x, result);
  result = ir.CreateSelect(ir.CreateFCmpOEQ(x, constant(x, 0)), constant(x, -kInfinity), result);
  Value* nan = llvm::ConstantFP::getNaN(x->getType());
  return ir.CreateSelect(ir.CreateFCmpULT(x, constant(x, 0)), nan, result);
}

/// A product as a sum of what fits and what it lacks.
struct Sum {
  Value *high, *low;
};
Sum exact_product(IrBuilder& ir, Value* a, Value* b) {
  Value* high = ir.CreateFMul(a, b);
  return {high, emit_fma(ir, a, b, ir.CreateFNeg(high))};
}

/// The same of a sum, if |a| >= |b| or a is 0.
Sum exact_sum(IrBuilder& ir, Value* a, Value* b) {
  Value* high = ir.CreateFAdd(a, b);
  return {high, ir.CreateFSub(b, ir.CreateFSub(high, a))};
}

/// t = (m - 1) / (m + 1).
Sum exact_ratio(IrBuilder& ir, Value* m) {
  Value *one = constant(m, 1), *f = ir.CreateFSub(m, one);
  const Sum divisor = exact_sum(ir, one, m);  // m >= 1/2, which is enough
  Value* t = ir.CreateFDiv(f, divisor.high);
  Value* minus_t = ir.CreateFNeg(t);
  Value* rest = emit_fma(ir, minus_t, divisor.high, f);
  rest = emit_fma(ir, minus_t, divisor.low, rest);
  return {t, ir.CreateFDiv(rest, divisor.high)};
}

}  // namespace float64
}  // namespace

/// By two powers of two, so that the largest and the denormal results are reached.
Value* emit_exp64(IrBuilder& ir, Value* x) {
  x = emit_min(ir, constant(x, 710), emit_max(ir, constant(x, -746), x));
  const float64::ReducedExp e = float64::reduce_exp(ir, x);
  Value* half = ir.CreateAShr(e.n, 1);
  Value* fraction = ir.CreateFAdd(e.fraction_minus1, constant(x, 1));
  Value* scaled = ir.CreateFMul(fraction, float64::power_of_two(ir, half, x));
  return ir.CreateFMul(scaled, float64::power_of_two(ir, ir.CreateSub(e.n, half), x));
}

Value* emit_expm1_64(IrBuilder& ir, Value* x) {
  const float64::ReducedExp e = float64::reduce_exp(ir, x);
  Value* scale = float64::power_of_two(ir, e.n, x);
  return emit_fma(ir, scale, e.fraction_minus1, ir.CreateFSub(scale, constant(x, 1)));
}

/// log m = f - (f^2/2 - s (f^2/2 + R)) with f = m - 1 and s = f / (2 + f), R = 2/3 s^2 + 2/5 s^4 + ...
Value* emit_log64(IrBuilder& ir, Value* x) {
  const auto [m, exponent] = float64::split(ir, x);
  Value* f = ir.CreateFSub(m, constant(x, 1));
  Value* s = ir.CreateFDiv(f, ir.CreateFAdd(f, constant(x, 2)));
  Value* z = ir.CreateFMul(s, s);
  Value* r = polynomial(ir, z,
                        {2.0 / 3, 2.0 / 5, 2.0 / 7, 2.0 / 9, 2.0 / 11, 2.0 / 13, 2.0 / 15, 2.0 / 17,
                         2.0 / 19, 2.0 / 21, 2.0 / 23});
  Value* half_square = ir.CreateFMul(ir.CreateFMul(f, f), constant(x, 0.5));
  Value* tail = emit_fma(ir, z, r, half_square);
  tail = emit_fma(ir, s, tail, ir.CreateFMul(exponent, constant(x, float64::kLn2Low)));
  Value* fraction = ir.CreateFSub(f, ir.CreateFSub(half_square, tail));
  Value* result = emit_fma(ir, exponent, constant(x, float64::kLn2High), fraction);
  return float64::with_special_logs(ir, x, result);
}

/// log m = 2 atanh t = 2 t + 2/3 t^3 + ... with t = (m - 1) / (m + 1), |t| < 0.172: the first two terms as sums.
LongLog emit_long_log64(IrBuilder& ir, Value* x) {
  const auto times = [&](Value* a, double b) { return ir.CreateFMul(a, constant(a, b)); };
  const auto [m, exponent] = float64::split(ir, x);
  const float64::Sum t = float64::exact_ratio(ir, m);
  float64::Sum square = float64::exact_product(ir, t.high, t.high);
  square.low = emit_fma(ir, times(t.high, 2), t.low, square.low);
  float64::Sum cube = float64::exact_product(ir, square.high, t.high);
  cube.low = emit_fma(ir, square.low, t.high, cube.low);
  cube.low = emit_fma(ir, square.high, t.low, cube.low);
  constexpr double kTwoThirds = 2.0 / 3, kTwoThirdsLow = 0x1.5555555555555p-55;
  float64::Sum third = float64::exact_product(ir, cube.high, constant(x, kTwoThirds));
  third.low = emit_fma(ir, cube.high, constant(x, kTwoThirdsLow), third.low);
  third.low = emit_fma(ir, cube.low, constant(x, kTwoThirds), third.low);
  Value* series = polynomial(ir, square.high,
                             {2.0 / 5, 2.0 / 7, 2.0 / 9, 2.0 / 11, 2.0 / 13, 2.0 / 15, 2.0 / 17,
                              2.0 / 19, 2.0 / 21, 2.0 / 23, 2.0 / 25});
  Value* low = emit_fma(ir, ir.CreateFMul(cube.high, square.high), series, third.low);
  low = emit_fma(ir, t.low, constant(x, 2), low);
  low = emit_fma(ir, exponent, constant(x, float64::kLn2Low), low);
  const float64::Sum first =
      float64::exact_sum(ir, times(exponent, float64::kLn2High), times(t.high, 2));
  const float64::Sum both = float64::exact_sum(ir, first.high, third.high);
  low = ir.CreateFAdd(low, ir.CreateFAdd(first.low, both.low));
  const float64::Sum sum = float64::exact_sum(ir, both.high, low);
  return {float64::with_special_logs(ir, x, sum.high), sum.low};
}

/// erf a = 1 - e^(a Q) with Q = log(erfc a) / a on [0, 6], a polynomial of a / 3 - 1, to 4e-16; beyond 6 it is 1 in float64.
Value* emit_erf64(IrBuilder& ir, Value* x) {
  Value* a = emit_min(ir, constant(x, 6), magnitude(ir, x));
  Value* place = emit_fma(ir, a, constant(x, 1.0 / 3), constant(x, -1));
  Value* q = polynomial(ir, place,
                        {-3.5734543473270377,     -2.7302993416761967,     -0.14188331472744814,
                         0.0751762885673984,      -0.038636906746500645,   0.018735843904086148,
                         -0.008266968481817894,   0.0030797944049471082,   -0.0007410435537920754,
                         -0.0001524144520615546,  0.00037801158745947645,  -0.00034057002090769224,
                         0.00023228457165813964,  -0.00013190808455300828, 6.239350146061284e-05,
                         -2.1227682869855167e-05, -4.713759502601339e-07,  6.6284354195566054e-06,
                         -3.273739720955522e-06,  3.8326324481496245e-06,  -8.617670571073913e-06,
                         3.9930706434987155e-06,  4.818938760467581e-06,   -2.3300051671048435e-06,
                         -3.7774555342548685e-06, 1.674765103943959e-06,   1.822094934883091e-06,
                         -9.56938523208884e-07,   -2.9093227244844477e-07, 1.78859373020901e-07});
  return ir.CreateCopySign(emit_expm1_64(ir, ir.CreateFMul(a, q)), x);
}

}  // namespace aoe::compiler::loopnest
