// See float64_functions.h. The polynomials are the functions' series, to where what is left out is below 1e-17.
#include "compiler/loopnest/float64_functions.h"

#include <llvm/IR/Constants.h>
#include <llvm/IR/Intrinsics.h>

namespace aoe::compiler::loopnest {
namespace {

using llvm::Value;

namespace float64 {  // its names are those of vector_math.cpp

/// Finite x > 0 is mantissa * 2^exponent with a mantissa in [sqrt(1/2), sqrt(2)).
struct Split {
  Value *mantissa, *exponent;
};

Split split(IrBuilder& ir, Value* x) {
  constexpr std::uint64_t kSqrtHalfBits = 0x3fe6a09e667f3bcdu;
  constexpr int kDenormalShift = 54, kMantissaBits = 52;
  Value* is_denormal = ir.CreateFCmpOLT(x, constant(x, 0x1p-1022));
  Value* normal = ir.CreateSelect(is_denormal, ir.CreateFMul(x, constant(x, 0x1p54)), x);
  Value* bits = ir.CreateBitCast(normal, int_type(x, 64));
  Value* e = ir.CreateAShr(ir.CreateSub(bits, bits_constant(x, kSqrtHalfBits)), kMantissaBits);
  Value* m = ir.CreateBitCast(ir.CreateSub(bits, ir.CreateShl(e, kMantissaBits)), x->getType());
  Value* exponent = ir.CreateSIToFP(e, x->getType());
  Value* shifted = ir.CreateFSub(exponent, constant(x, kDenormalShift));
  return {m, ir.CreateSelect(is_denormal, shifted, exponent)};
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
  const ReducedExp e = reduce_exp(ir, x);
  Value* half = ir.CreateAShr(e.n, 1);
  Value* fraction = ir.CreateFAdd(e.fraction_minus1, constant(x, 1));
  Value* scaled = ir.CreateFMul(fraction, power_of_two(ir, half, x));
  return ir.CreateFMul(scaled, power_of_two(ir, ir.CreateSub(e.n, half), x));
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
  tail = emit_fma(ir, s, tail, ir.CreateFMul(exponent, constant(x, kLn2Double.low)));
  Value* fraction = ir.CreateFSub(f, ir.CreateFSub(half_square, tail));
  Value* result = emit_fma(ir, exponent, constant(x, kLn2Double.high), fraction);
  return with_special_logs(ir, x, result);
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
  low = emit_fma(ir, exponent, constant(x, kLn2Double.low), low);
  const float64::Sum first =
      float64::exact_sum(ir, times(exponent, kLn2Double.high), times(t.high, 2));
  const float64::Sum both = float64::exact_sum(ir, first.high, third.high);
  low = ir.CreateFAdd(low, ir.CreateFAdd(first.low, both.low));
  const float64::Sum sum = float64::exact_sum(ir, both.high, low);
  return {with_special_logs(ir, x, sum.high), sum.low};
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
  return ir.CreateCopySign(emit_expm1(ir, ir.CreateFMul(a, q)), x);
}

}  // namespace aoe::compiler::loopnest
