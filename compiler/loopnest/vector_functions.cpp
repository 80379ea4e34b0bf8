// See vector_functions.h. The polynomials are Chebyshev fits made for these intervals; the error of each is noted beside
// it.
#include "compiler/loopnest/vector_functions.h"

#include <llvm/IR/Constants.h>
#include <llvm/IR/Intrinsics.h>

#include "compiler/loopnest/angles.h"

namespace aoe::compiler::loopnest {
namespace {

using llvm::Value;

/// x with the sign turned over where the lane of `signs` has its highest bit set.
Value* flip_sign(IrBuilder& ir, Value* x, Value* signs) {
  const std::uint64_t highest = std::uint64_t{1} << (x->getType()->getScalarSizeInBits() - 1);
  Value* bits = ir.CreateAnd(signs, bits_constant(x, highest));
  return ir.CreateBitCast(ir.CreateXor(ir.CreateBitCast(x, bits_type(x)), bits), x->getType());
}

/// What depends on the type of x.
double of_type(Value* x, double of_float, double of_double) {
  return is_double(x) ? of_double : of_float;
}

/// Of |r| <= pi / 4: to 1.3e-8 of it; of float64 the series, to 1e-19.
Value* sin_of_rest(IrBuilder& ir, Value* r, Value* square) {
  Value* p = is_double(r)
                 ? polynomial(ir, square,
                              {-1.0 / 6, 1.0 / 120, -1.0 / 5040, 1.0 / 362880, -1.0 / 39916800,
                               1.0 / 6227020800, -1.0 / 1307674368000, 1.0 / 355687428096000})
                 : polynomial(ir, square, {-0.16666664582, 0.00833273277323, -0.000195845646381});
  return emit_fma(ir, ir.CreateFMul(r, square), p, r);
}

/// To 1.3e-9; of float64 to 2e-18.
Value* cos_of_rest(IrBuilder& ir, Value* square) {
  Value* p = is_double(square)
                 ? polynomial(ir, square,
                              {1.0 / 24, -1.0 / 720, 1.0 / 40320, -1.0 / 3628800, 1.0 / 479001600,
                               -1.0 / 87178291200, 1.0 / 20922789888000})
                 : polynomial(ir, square, {0.0416666645791, -0.00138882875068, 2.45446087857e-05});
  Value* line = emit_fma(ir, square, constant(square, -0.5), constant(square, 1));
  return emit_fma(ir, ir.CreateFMul(square, square), p, line);
}

Value* is_odd(IrBuilder& ir, Value* number, Value* like) {
  return ir.CreateICmpNE(ir.CreateAnd(number, bits_constant(like, 1)), bits_constant(like, 0));
}

/// The lowest bit but `bit` as the sign.
Value* sign_of(IrBuilder& ir, Value* number, std::uint64_t bit, Value* like) {
  const std::uint64_t highest = like->getType()->getScalarSizeInBits() - 1;
  return ir.CreateShl(number, bits_constant(like, highest - bit));
}

/// The sine of quadrant `number` and rest: sine or cosine of the rest, negative in two of four quadrants.
Value* sin_in_quadrant(IrBuilder& ir, Value* rest, Value* number) {
  Value* square = ir.CreateFMul(rest, rest);
  Value* size = ir.CreateSelect(is_odd(ir, number, rest), cos_of_rest(ir, square),
                                sin_of_rest(ir, rest, square));
  return flip_sign(ir, size, sign_of(ir, number, 1, rest));
}

// ---- logarithms ----

/// log(1 + t) for t >= -1, accurate near zero: what rounding 1 + t loses is added again.
Value* emit_log1p(IrBuilder& ir, Value* t) {
  Value* one = constant(t, 1);
  Value* u = ir.CreateFAdd(one, t);
  Value* lost = ir.CreateFDiv(ir.CreateFSub(t, ir.CreateFSub(u, one)), u);
  Value* is_small = ir.CreateFCmpOLT(magnitude(ir, t), constant(t, of_type(t, 0x1p24, 0x1p53)));
  is_small = ir.CreateAnd(is_small, ir.CreateFCmpOGT(u, constant(t, 0)));
  lost = ir.CreateSelect(is_small, lost, constant(t, 0));
  return ir.CreateFAdd(emit_log(ir, u), lost);
}

/// log(2 x) where x is so large that its square is all that counts.
struct Large {
  Value* is;
  Value* addend;  ///< ln 2 there, 0 elsewhere
};

Large large(IrBuilder& ir, Value* x) {
  Value* is = ir.CreateFCmpOGT(x, constant(x, of_type(x, 0x1p13, 0x1p28)));
  constexpr double kLn2 = 0.693147180559945309417;
  return {is, ir.CreateSelect(is, constant(x, kLn2), constant(x, 0))};
}

/// asin(a) / a - 1 for a^2 <= 1/4, to 1.8e-8; of float64 to 6e-18.
Value* asin_growth(IrBuilder& ir, Value* square) {
  Value* p = is_double(square)
                 ? polynomial(ir, square,
                              {0.16666666666666669, 0.07499999999998433, 0.04464285714635543,
                               0.030381944138531247, 0.02237217294214989, 0.017352392720869973,
                               0.013971212973552933, 0.011479177415184906, 0.01032281435018578,
                               0.005457506718640358, 0.01740087944269402, -0.014851887071247204,
                               0.028757851367421566})
                 : polynomial(ir, square,
                              {0.166666724148, 0.0749885507254, 0.0450013800782, 0.0265545421616,
                               0.0380850236407});
  return ir.CreateFMul(square, p);
}

/// atan(a) of a <= 1, where a is a quotient that has not been divided yet.
Value* atan_of_quotient32(IrBuilder& ir, Value* dividend, Value* divisor) {
  Value* a = ir.CreateFDiv(dividend, divisor);
  // atan(a) / a - 1 on [0, 1], to 8.5e-9
  Value* square = ir.CreateFMul(a, a);
  Value* p = polynomial(
      ir, square,
      {-0.333333317331, 0.199997393298, -0.142785687482, 0.110337641153, -0.0865688043015,
       0.0625016944474, -0.035871538982, 0.013507771427, -0.00238699731672});
  return emit_fma(ir, ir.CreateFMul(a, square), p, a);
}

/// Beyond tan(pi / 8) as pi / 4 + atan((a - 1) / (a + 1)).
Value* atan_of_quotient64(IrBuilder& ir, Value* dividend, Value* divisor) {
  constexpr double kTanOfEighth = 0.41421356237309503;
  Value* far = ir.CreateFCmpOGT(dividend, ir.CreateFMul(divisor, constant(divisor, kTanOfEighth)));
  Value* a = ir.CreateFDiv(ir.CreateSelect(far, ir.CreateFSub(dividend, divisor), dividend),
                           ir.CreateSelect(far, ir.CreateFAdd(dividend, divisor), divisor));
  // atan(a) / a - 1 for |a| <= tan(pi / 8), to 8e-18
  Value* square = ir.CreateFMul(a, a);
  Value* p = polynomial(
      ir, square,
      {-0.3333333333333333, 0.1999999999999552, -0.14285714284666542, 0.11111111015256361,
       -0.09090904578123903, 0.07692183190826087, -0.06664511447381948, 0.0585814891280221,
       -0.0508544973794026, 0.03923165829558719, -0.01917688711906226});
  Value* angle = emit_fma(ir, ir.CreateFMul(a, square), p, a);
  return ir.CreateFAdd(angle, ir.CreateSelect(far, constant(a, kPi / 4), constant(a, 0)));
}

/// asin of |x|, in pieces: below 1/2 by the series, above as pi / 2 - 2 asin(sqrt((1 - |x|) / 2)).
struct Arc {
  Value* is_steep;
  Value* angle;  ///< asin |x|, or where steep half of what it lacks to a right angle
};

Arc arc_of(IrBuilder& ir, Value* size) {
  Value* is_steep = ir.CreateFCmpOGT(size, constant(size, 0.5));
  Value* rest = emit_fma(ir, size, constant(size, -0.5), constant(size, 0.5));
  Value* square = ir.CreateSelect(is_steep, rest, ir.CreateFMul(size, size));
  Value* base = ir.CreateSelect(is_steep, emit_sqrt(ir, rest), size);
  return {is_steep, emit_fma(ir, base, asin_growth(ir, square), base)};
}

}  // namespace

Value* emit_sin(IrBuilder& ir, Value* x) {
  const Quadrant q = reduce_angle(ir, magnitude(ir, x));
  return flip_sign(ir, sin_in_quadrant(ir, q.rest, q.number), ir.CreateBitCast(x, bits_type(x)));
}

Value* emit_cos(IrBuilder& ir, Value* x) {
  const Quadrant q = reduce_angle(ir, magnitude(ir, x));
  return sin_in_quadrant(ir, q.rest, ir.CreateAdd(q.number, bits_constant(x, 1)));
}

Value* emit_tan(IrBuilder& ir, Value* x) {
  const Quadrant q = reduce_angle(ir, magnitude(ir, x));
  Value* square = ir.CreateFMul(q.rest, q.rest);
  Value *sine = sin_of_rest(ir, q.rest, square), *cosine = cos_of_rest(ir, square);
  Value* odd = is_odd(ir, q.number, x);
  Value* quotient =
      ir.CreateFDiv(ir.CreateSelect(odd, cosine, sine), ir.CreateSelect(odd, sine, cosine));
  quotient = flip_sign(ir, quotient, sign_of(ir, q.number, 0, x));
  return flip_sign(ir, quotient, ir.CreateBitCast(x, bits_type(x)));
}

Value* emit_asin(IrBuilder& ir, Value* x) {
  const Arc arc = arc_of(ir, magnitude(ir, x));
  Value* steep = emit_fma(ir, arc.angle, constant(x, -2), constant(x, kPi / 2));
  return ir.CreateCopySign(ir.CreateSelect(arc.is_steep, steep, arc.angle), x);
}

Value* emit_acos(IrBuilder& ir, Value* x) {
  const Arc arc = arc_of(ir, magnitude(ir, x));
  Value* is_negative = ir.CreateFCmpOLT(x, constant(x, 0));
  Value* twice = ir.CreateFAdd(arc.angle, arc.angle);
  Value* steep = ir.CreateSelect(is_negative, ir.CreateFSub(constant(x, kPi), twice), twice);
  Value* flat = ir.CreateFSub(constant(x, kPi / 2), ir.CreateCopySign(arc.angle, x));
  return ir.CreateSelect(arc.is_steep, steep, flat);
}

Value* emit_atan(IrBuilder& ir, Value* x) {
  Value* size = magnitude(ir, x);
  Value* one = constant(x, 1);
  Value* is_steep = ir.CreateFCmpOGT(size, one);
  Value *dividend = ir.CreateSelect(is_steep, one, size),
        *divisor = ir.CreateSelect(is_steep, size, one);
  Value* angle = is_double(x) ? atan_of_quotient64(ir, dividend, divisor)
                              : atan_of_quotient32(ir, dividend, divisor);
  Value* steep = ir.CreateFSub(constant(x, kPi / 2), angle);
  return ir.CreateCopySign(ir.CreateSelect(is_steep, steep, angle), x);
}

Value* emit_sinh(IrBuilder& ir, Value* x) {
  // With u = e^(|x|/2) - 1 and h = u (u + 2) / 2 = (e^|x| - 1) / 2: sinh |x| = h + h / (2 h + 1). Halves, so that e^|x|
  // may overflow where sinh does not.
  Value* half = ir.CreateFMul(magnitude(ir, x), constant(x, 0.5));
  Value* u = emit_expm1(ir, emit_min(ir, constant(x, of_type(x, 46, 356)), half));
  Value* h = ir.CreateFMul(ir.CreateFMul(constant(x, 0.5), u), ir.CreateFAdd(u, constant(x, 2)));
  Value* bounded = emit_min(ir, constant(x, of_type(x, 1e9, 1e18)), h);
  Value* tail = ir.CreateFDiv(bounded, emit_fma(ir, bounded, constant(x, 2), constant(x, 1)));
  return ir.CreateCopySign(ir.CreateFAdd(h, tail), x);
}

Value* emit_cosh(IrBuilder& ir, Value* x) {
  // Through e^(|x|/2) squared, which overflows where cosh does and not before.
  Value* half = ir.CreateFMul(magnitude(ir, x), constant(x, 0.5));
  Value* e = emit_exp(ir, half);
  Value* h = ir.CreateFMul(e, constant(x, 0.5));
  return emit_fma(ir, h, e, ir.CreateFDiv(constant(x, 0.5), ir.CreateFMul(e, e)));
}

Value* emit_asinh(IrBuilder& ir, Value* x) {
  // log(|x| + sqrt(x^2 + 1)) = log1p(|x| + x^2 / (1 + sqrt(x^2 + 1)))
  Value* size = magnitude(ir, x);
  const Large l = large(ir, size);
  Value* small = ir.CreateSelect(l.is, constant(x, 0), size);  // its square is finite
  Value* square = ir.CreateFMul(small, small);
  Value* root = emit_sqrt(ir, ir.CreateFAdd(square, constant(x, 1)));
  Value* t = ir.CreateFAdd(small, ir.CreateFDiv(square, ir.CreateFAdd(root, constant(x, 1))));
  t = ir.CreateSelect(l.is, ir.CreateFSub(size, constant(x, 1)), t);
  return ir.CreateCopySign(ir.CreateFAdd(emit_log1p(ir, t), l.addend), x);
}

Value* emit_acosh(IrBuilder& ir, Value* x) {
  const Large l = large(ir, x);
  Value* t = ir.CreateFSub(x, constant(x, 1));
  Value* small = ir.CreateSelect(l.is, constant(x, 0), t);
  Value* root = emit_sqrt(ir, ir.CreateFMul(small, ir.CreateFAdd(small, constant(x, 2))));
  Value* result = emit_log1p(ir, ir.CreateFAdd(t, root));
  result = ir.CreateFAdd(result, l.addend);
  return ir.CreateSelect(ir.CreateFCmpULT(x, constant(x, 1)),
                         llvm::ConstantFP::getNaN(x->getType()), result);
}

Value* emit_atanh(IrBuilder& ir, Value* x) {
  // log1p(2 |x| / (1 - |x|)) / 2
  Value* size = magnitude(ir, x);
  Value* t = ir.CreateFDiv(ir.CreateFAdd(size, size), ir.CreateFSub(constant(x, 1), size));
  Value* result = ir.CreateFMul(emit_log1p(ir, t), constant(x, 0.5));
  result = ir.CreateSelect(ir.CreateFCmpUGT(size, constant(x, 1)),
                           llvm::ConstantFP::getNaN(x->getType()), result);
  return ir.CreateCopySign(result, x);
}

namespace {

/// Quotients of 32 bits are exact in double precision: what is not whole is at least 2^-32 of itself away from it.
Value* divide_by_doubles(IrBuilder& ir, Value* a, Value* b, bool is_signed) {
  llvm::Type* real = a->getType()->getWithNewType(ir.getDoubleTy());
  const auto as_real = [&](Value* n) {
    return is_signed ? ir.CreateSIToFP(n, real) : ir.CreateUIToFP(n, real);
  };
  Value* quotient = ir.CreateFDiv(as_real(a), as_real(b));
  return is_signed ? ir.CreateFPToSI(quotient, a->getType())
                   : ir.CreateFPToUI(quotient, a->getType());
}

}  // namespace

Value* emit_int_divide(IrBuilder& ir, Value* a, Value* b, bool is_signed) {
  const auto number = [&](std::int64_t n) {
    return llvm::ConstantInt::get(a->getType(), static_cast<std::uint64_t>(n), true);
  };
  Value* is_zero = ir.CreateICmpEQ(b, number(0));
  Value* is_minus_one = ir.CreateICmpEQ(b, number(-1));
  Value* is_special = is_signed ? ir.CreateOr(is_zero, is_minus_one) : is_zero;
  Value* divisor = ir.CreateSelect(is_special, number(1), b);
  Value* quotient = a->getType()->getScalarSizeInBits() == 32
                        ? divide_by_doubles(ir, a, divisor, is_signed)
                    : is_signed ? ir.CreateSDiv(a, divisor)
                                : ir.CreateUDiv(a, divisor);
  if (is_signed) quotient = ir.CreateSelect(is_minus_one, ir.CreateNeg(a), quotient);
  return ir.CreateSelect(is_zero, number(0), quotient);
}

}  // namespace aoe::compiler::loopnest
