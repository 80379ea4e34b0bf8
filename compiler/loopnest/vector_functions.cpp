// See vector_functions.h. The polynomials are Chebyshev fits made for these intervals; the error of each is noted beside
// it.
#include "compiler/loopnest/vector_functions.h"

#include <llvm/IR/Constants.h>
#include <llvm/IR/Intrinsics.h>
#include <llvm/IR/Module.h>

#include <array>
#include <limits>
#include <vector>

namespace aoe::compiler::loopnest {
namespace {

using llvm::Value;

constexpr double kPi = 3.14159265358979323846;
constexpr std::uint32_t kSignBit = 0x80000000u;

Value* magnitude(IrBuilder& ir, Value* x) {
  return ir.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, x);
}

Value* square_root(IrBuilder& ir, Value* x) {
  return ir.CreateUnaryIntrinsic(llvm::Intrinsic::sqrt, x);
}

/// x with the sign turned over where the lane of `signs` has its highest bit set.
Value* flip_sign(IrBuilder& ir, Value* x, Value* signs) {
  Value* bits = ir.CreateAnd(signs, int_constant(x, kSignBit));
  return ir.CreateBitCast(ir.CreateXor(ir.CreateBitCast(x, int_type(x)), bits), x->getType());
}

/// The values with lanes of `mask` replaced by those that `rare()` computes, which is skipped where no lane asks for it.
using Values = std::vector<Value*>;
Values with_rare(IrBuilder& ir, Value* mask, const Values& usual,
                 const std::function<Values()>& rare) {
  llvm::Function* function = ir.GetInsertBlock()->getParent();
  const auto block = [&](const char* name) {
    return llvm::BasicBlock::Create(ir.getContext(), name, function);
  };
  llvm::BasicBlock *before = ir.GetInsertBlock(), *then = block("rare"), *after = block("usual");
  Value* any = mask->getType()->isVectorTy() ? ir.CreateOrReduce(mask) : mask;
  ir.CreateCondBr(any, then, after);
  ir.SetInsertPoint(then);
  Values chosen = rare();
  for (std::size_t i = 0; i < usual.size(); ++i)
    chosen[i] = ir.CreateSelect(mask, chosen[i], usual[i]);
  llvm::BasicBlock* end = ir.GetInsertBlock();
  ir.CreateBr(after);
  ir.SetInsertPoint(after);
  Values results;
  for (std::size_t i = 0; i < usual.size(); ++i) {
    llvm::PHINode* phi = ir.CreatePHI(usual[i]->getType(), 2);
    phi->addIncoming(usual[i], before);
    phi->addIncoming(chosen[i], end);
    results.push_back(phi);
  }
  return results;
}

// ---- quadrants ----

/// x = quadrant * pi / 2 + rest, |rest| <= pi / 4 and a little.
struct Quadrant {
  Value* rest;
  Value* number;  ///< int32 lanes; only the lowest two bits count
};

/// 32 bits of 2 / pi at every eighth bit: word j begins with the bit worth 2 when 2 / pi is multiplied by 2^(8 j - 8).
constexpr std::array<std::uint32_t, 23> kTwoOverPi = {
    0x0028be60u, 0x28be60dbu, 0xbe60db93u, 0x60db9391u, 0xdb939105u, 0x9391054au,
    0x91054a7fu, 0x054a7f09u, 0x4a7f09d5u, 0x7f09d5f4u, 0x09d5f47du, 0xd5f47d4du,
    0xf47d4d37u, 0x7d4d3770u, 0x4d377036u, 0x377036d8u, 0x7036d8a5u, 0x36d8a566u,
    0xd8a5664fu, 0xa5664f10u, 0x664f10e4u, 0x4f10e410u, 0x10e4107fu};

/// Of positive x from 2^17 on: x = m * 2^k with m of 24 bits. Bits of 2 / pi that are multiples of four quadrants are
/// left out; the next 96 times m give the quadrant in two bits and its fraction in the others, of which 64 are kept.
Values reduce_large(IrBuilder& ir, Value* x) {
  llvm::Module* module = ir.GetInsertBlock()->getModule();
  llvm::Constant* words = llvm::ConstantDataArray::get(ir.getContext(), kTwoOverPi);
  auto* table = new llvm::GlobalVariable(*module, words->getType(), true,
                                         llvm::GlobalValue::PrivateLinkage, words, "two_over_pi");
  constexpr std::uint32_t kSmallestExponent = 127 + 17, kLargestExponent = 254, kUnit = 127 + 23;
  llvm::Type *narrow = int_type(x), *wide = int_type(x, 64);
  const auto number = [&](std::uint64_t n) { return llvm::ConstantInt::get(wide, n); };
  Value* bits = ir.CreateBitCast(x, narrow);
  Value* exponent = ir.CreateLShr(bits, int_constant(x, 23));
  // Other lanes, infinities and NaN among them, are somebody else's: they only must stay inside the table.
  exponent =
      ir.CreateBinaryIntrinsic(llvm::Intrinsic::umin, exponent, int_constant(x, kLargestExponent));
  exponent =
      ir.CreateBinaryIntrinsic(llvm::Intrinsic::umax, exponent, int_constant(x, kSmallestExponent));
  Value* place = ir.CreateSub(exponent, int_constant(x, kUnit - 8));
  Value* mantissa =
      ir.CreateOr(ir.CreateAnd(bits, int_constant(x, 0x7fffff)), int_constant(x, 0x800000));
  mantissa = ir.CreateShl(mantissa, ir.CreateAnd(place, int_constant(x, 7)));
  mantissa = ir.CreateZExt(mantissa, wide);
  Value* first = ir.CreateLShr(place, int_constant(x, 3));
  const auto word = [&](std::uint32_t offset) -> Value* {
    Value* index = ir.CreateZExt(ir.CreateAdd(first, int_constant(x, offset)), wide);
    Value* address = ir.CreateGEP(ir.getInt32Ty(), table, index);
    if (!x->getType()->isVectorTy())
      return ir.CreateZExt(ir.CreateAlignedLoad(ir.getInt32Ty(), address, llvm::Align(4)), wide);
    return ir.CreateZExt(ir.CreateMaskedGather(narrow, address, llvm::Align(4)), wide);
  };
  Value* sum = ir.CreateShl(ir.CreateMul(mantissa, word(0)), number(32));
  sum = ir.CreateAdd(sum, ir.CreateMul(mantissa, word(4)));
  sum = ir.CreateAdd(sum, ir.CreateLShr(ir.CreateMul(mantissa, word(8)), number(32)));
  Value* quadrant = ir.CreateLShr(ir.CreateAdd(sum, number(std::uint64_t{1} << 61)), number(62));
  Value* fraction = ir.CreateSub(sum, ir.CreateShl(quadrant, number(62)));
  llvm::Type* real = x->getType()->getWithNewType(ir.getDoubleTy());
  Value* rest = ir.CreateFMul(ir.CreateSIToFP(fraction, real),
                              llvm::ConstantFP::get(real, kPi / 2 * 0x1p-62));
  rest = ir.CreateFPTrunc(rest, x->getType());
  Value* is_finite = ir.CreateFCmpOLT(x, constant(x, std::numeric_limits<float>::infinity()));
  rest = ir.CreateSelect(is_finite, rest, llvm::ConstantFP::getNaN(x->getType()));
  return {rest, ir.CreateTrunc(quadrant, narrow)};
}

/// Of x >= 0, or NaN.
Quadrant reduce(IrBuilder& ir, Value* x) {
  constexpr float kTwoOverPiFloat = 0x1.45f306p-1f;
  // pi / 2 in three floats. Below 2^17 the product with the first is exact, and so is the difference.
  constexpr float kHigh = 0x1.921fb6p+0f, kMiddle = -0x1.777a5cp-25f, kLow = -0x1.ee59dap-50f;
  constexpr float kRoundingMagic = 12582912.0f;  // 1.5 * 2^23: see vector_math.cpp
  Value* shifted = emit_fma(ir, x, constant(x, kTwoOverPiFloat), constant(x, kRoundingMagic));
  Value* n = ir.CreateFSub(shifted, constant(x, kRoundingMagic));
  Value* rest = emit_fma(ir, n, constant(x, -kHigh), x);
  rest = emit_fma(ir, n, constant(x, -kMiddle), rest);
  rest = emit_fma(ir, n, constant(x, -kLow), rest);
  Value* is_large = ir.CreateFCmpUGE(x, constant(x, 0x1p17));  // or NaN
  const Values chosen = with_rare(ir, is_large, {rest, ir.CreateBitCast(shifted, int_type(x))},
                                  [&] { return reduce_large(ir, x); });
  return {chosen[0], chosen[1]};
}

/// Of |r| <= pi / 4: to 1.3e-8 of it.
Value* sin_of_rest(IrBuilder& ir, Value* r, Value* square) {
  Value* p = polynomial(ir, square, {-0.16666664582, 0.00833273277323, -0.000195845646381});
  return emit_fma(ir, ir.CreateFMul(r, square), p, r);
}

/// To 1.3e-9.
Value* cos_of_rest(IrBuilder& ir, Value* square) {
  Value* p = polynomial(ir, square, {0.0416666645791, -0.00138882875068, 2.45446087857e-05});
  Value* line = emit_fma(ir, square, constant(square, -0.5), constant(square, 1));
  return emit_fma(ir, ir.CreateFMul(square, square), p, line);
}

Value* is_odd(IrBuilder& ir, Value* number, Value* like) {
  return ir.CreateICmpNE(ir.CreateAnd(number, int_constant(like, 1)), int_constant(like, 0));
}

/// The sine of quadrant `number` and rest: sine or cosine of the rest, negative in two of four quadrants.
Value* sin_in_quadrant(IrBuilder& ir, Value* rest, Value* number) {
  Value* square = ir.CreateFMul(rest, rest);
  Value* size = ir.CreateSelect(is_odd(ir, number, rest), cos_of_rest(ir, square),
                                sin_of_rest(ir, rest, square));
  return flip_sign(ir, size, ir.CreateShl(number, int_constant(rest, 30)));
}

// ---- logarithms ----

/// log(1 + t) for t >= -1, accurate near zero: what rounding 1 + t loses is added again.
Value* emit_log1p(IrBuilder& ir, Value* t) {
  Value* one = constant(t, 1);
  Value* u = ir.CreateFAdd(one, t);
  Value* lost = ir.CreateFDiv(ir.CreateFSub(t, ir.CreateFSub(u, one)), u);
  Value* is_small = ir.CreateFCmpOLT(magnitude(ir, t), constant(t, 0x1p24));
  is_small = ir.CreateAnd(is_small, ir.CreateFCmpOGT(u, constant(t, 0)));
  lost = ir.CreateSelect(is_small, lost, constant(t, 0));
  return ir.CreateFAdd(emit_log(ir, u), lost);
}

/// log(2 x) where x is so large that its square is all that counts.
struct Large {
  static constexpr double kFrom = 8192;
  Value* is;
  Value* addend;  ///< ln 2 there, 0 elsewhere
};

Large large(IrBuilder& ir, Value* x) {
  Value* is = ir.CreateFCmpOGT(x, constant(x, Large::kFrom));
  constexpr double kLn2 = 0.693147180559945309417;
  return {is, ir.CreateSelect(is, constant(x, kLn2), constant(x, 0))};
}

/// asin(a) / a - 1 for a^2 <= 1/4, to 1.8e-8.
Value* asin_growth(IrBuilder& ir, Value* square) {
  Value* p = polynomial(
      ir, square,
      {0.166666724148, 0.0749885507254, 0.0450013800782, 0.0265545421616, 0.0380850236407});
  return ir.CreateFMul(square, p);
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
  Value* base = ir.CreateSelect(is_steep, square_root(ir, rest), size);
  return {is_steep, emit_fma(ir, base, asin_growth(ir, square), base)};
}

}  // namespace

Value* emit_sin(IrBuilder& ir, Value* x) {
  const Quadrant q = reduce(ir, magnitude(ir, x));
  return flip_sign(ir, sin_in_quadrant(ir, q.rest, q.number), ir.CreateBitCast(x, int_type(x)));
}

Value* emit_cos(IrBuilder& ir, Value* x) {
  const Quadrant q = reduce(ir, magnitude(ir, x));
  return sin_in_quadrant(ir, q.rest, ir.CreateAdd(q.number, int_constant(x, 1)));
}

Value* emit_tan(IrBuilder& ir, Value* x) {
  const Quadrant q = reduce(ir, magnitude(ir, x));
  Value* square = ir.CreateFMul(q.rest, q.rest);
  Value *sine = sin_of_rest(ir, q.rest, square), *cosine = cos_of_rest(ir, square);
  Value* odd = is_odd(ir, q.number, x);
  Value* quotient =
      ir.CreateFDiv(ir.CreateSelect(odd, cosine, sine), ir.CreateSelect(odd, sine, cosine));
  quotient = flip_sign(ir, quotient, ir.CreateShl(q.number, int_constant(x, 31)));
  return flip_sign(ir, quotient, ir.CreateBitCast(x, int_type(x)));
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
  Value* a =
      ir.CreateFDiv(ir.CreateSelect(is_steep, one, size), ir.CreateSelect(is_steep, size, one));
  // atan(a) / a - 1 on [0, 1], to 8.5e-9
  Value* square = ir.CreateFMul(a, a);
  Value* p = polynomial(
      ir, square,
      {-0.333333317331, 0.199997393298, -0.142785687482, 0.110337641153, -0.0865688043015,
       0.0625016944474, -0.035871538982, 0.013507771427, -0.00238699731672});
  Value* angle = emit_fma(ir, ir.CreateFMul(a, square), p, a);
  Value* steep = ir.CreateFSub(constant(x, kPi / 2), angle);
  return ir.CreateCopySign(ir.CreateSelect(is_steep, steep, angle), x);
}

Value* emit_sinh(IrBuilder& ir, Value* x) {
  // With u = e^(|x|/2) - 1 and h = u (u + 2) / 2 = (e^|x| - 1) / 2: sinh |x| = h + h / (2 h + 1). Halves, so that e^|x|
  // may overflow where sinh does not.
  Value* half = ir.CreateFMul(magnitude(ir, x), constant(x, 0.5));
  Value* u = emit_expm1(ir, emit_min(ir, constant(x, 46), half));
  Value* h = ir.CreateFMul(ir.CreateFMul(constant(x, 0.5), u), ir.CreateFAdd(u, constant(x, 2)));
  Value* bounded = emit_min(ir, constant(x, 1e9), h);
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
  Value* root = square_root(ir, ir.CreateFAdd(square, constant(x, 1)));
  Value* t = ir.CreateFAdd(small, ir.CreateFDiv(square, ir.CreateFAdd(root, constant(x, 1))));
  t = ir.CreateSelect(l.is, ir.CreateFSub(size, constant(x, 1)), t);
  return ir.CreateCopySign(ir.CreateFAdd(emit_log1p(ir, t), l.addend), x);
}

Value* emit_acosh(IrBuilder& ir, Value* x) {
  const Large l = large(ir, x);
  Value* t = ir.CreateFSub(x, constant(x, 1));
  Value* small = ir.CreateSelect(l.is, constant(x, 0), t);
  Value* root = square_root(ir, ir.CreateFMul(small, ir.CreateFAdd(small, constant(x, 2))));
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

Value* emit_fmod(IrBuilder& ir, Value* x, Value* y) {
  // In double precision a quotient's integer part q has 53 exact bits, and r - q y is exact: each step takes 52 bits off
  // the quotient, whose exponents differ by at most 277. A quotient that was rounded up leaves a small r of the other
  // sign, which one |y| puts right.
  llvm::Type* real = x->getType()->getWithNewType(ir.getDoubleTy());
  const auto number = [&](double n) { return llvm::ConstantFP::get(real, n); };
  Value *dividend = ir.CreateFPExt(magnitude(ir, x), real),
        *divisor = ir.CreateFPExt(magnitude(ir, y), real);
  const auto step = [&](Value* r) {
    Value* q = ir.CreateUnaryIntrinsic(llvm::Intrinsic::trunc, ir.CreateFDiv(r, divisor));
    return emit_fma(ir, ir.CreateFNeg(q), divisor, r);
  };
  Value* r = step(dividend);
  Value* is_long = ir.CreateFCmpOGE(magnitude(ir, r), divisor);
  r = with_rare(ir, is_long, {r}, [&]() -> Values {
    Value* rest = r;
    for (int bits = 52; bits < 277; bits += 52) rest = step(rest);
    return {rest};
  })[0];
  r = ir.CreateSelect(ir.CreateFCmpOLT(r, number(0)), ir.CreateFAdd(r, divisor), r);
  Value* result = ir.CreateFPTrunc(r, x->getType());
  Value* is_within = ir.CreateFCmpOLT(magnitude(ir, x), magnitude(ir, y));  // y may be infinite
  result = ir.CreateSelect(is_within, x, result);
  return ir.CreateCopySign(result, x);
}

namespace {

/// The logarithm in double precision, to 3e-12 of it, of x >= 0.
Value* wide_log(IrBuilder& ir, Value* x) {
  const Split split = emit_split(ir, x);
  llvm::Type* real = x->getType()->getWithNewType(ir.getDoubleTy());
  const auto number = [&](double n) { return llvm::ConstantFP::get(real, n); };
  Value* m = ir.CreateFPExt(split.mantissa, real);
  // log m = 2 atanh t with t = (m - 1) / (m + 1), |t| < 0.172
  Value* t = ir.CreateFDiv(ir.CreateFSub(m, number(1)), ir.CreateFAdd(m, number(1)));
  Value* series = polynomial(ir, ir.CreateFMul(t, t),
                             {2, 2.0 / 3, 2.0 / 5, 2.0 / 7, 2.0 / 9, 2.0 / 11, 2.0 / 13});
  constexpr double kLn2 = 0.693147180559945309417;
  Value* exponent = ir.CreateSIToFP(split.exponent, real);
  Value* result = emit_fma(ir, exponent, number(kLn2), ir.CreateFMul(t, series));
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  Value* is_finite = ir.CreateFCmpOLT(x, constant(x, kInfinity));
  result = ir.CreateSelect(is_finite, result, ir.CreateFPExt(x, real));  // infinity, NaN
  return ir.CreateSelect(ir.CreateFCmpOEQ(x, constant(x, 0)), number(-kInfinity), result);
}

/// size^y = e^(y log size), the exponent to more digits than float32 has: what it is off, the result is off relatively.
Value* power_of_size(IrBuilder& ir, Value* size, Value* y) {
  llvm::Type* real = size->getType()->getWithNewType(ir.getDoubleTy());
  Value* exponent = ir.CreateFMul(ir.CreateFPExt(y, real), wide_log(ir, size));
  Value* high = ir.CreateFPTrunc(exponent, size->getType());
  Value* low =
      ir.CreateFPTrunc(ir.CreateFSub(exponent, ir.CreateFPExt(high, real)), size->getType());
  Value* is_small = ir.CreateFCmpOLT(magnitude(ir, low), constant(size, 1));
  low = ir.CreateSelect(is_small, low, constant(size, 0));  // where high is infinite
  return ir.CreateFMul(emit_exp(ir, high), ir.CreateFAdd(low, constant(size, 1)));
}

}  // namespace

Value* emit_pow(IrBuilder& ir, Value* x, Value* y) {
  const auto floor = [&](Value* v) { return ir.CreateUnaryIntrinsic(llvm::Intrinsic::floor, v); };
  Value *size = magnitude(ir, x), *one = constant(x, 1);
  Value* result = power_of_size(ir, size, y);
  result = ir.CreateSelect(ir.CreateFCmpOEQ(size, one), one, result);  // infinite y: log is 0
  Value* half = ir.CreateFMul(y, constant(x, 0.5));
  Value* is_whole = ir.CreateFCmpOEQ(floor(y), y);
  Value* is_odd = ir.CreateAnd(is_whole, ir.CreateFCmpONE(floor(half), half));
  result = ir.CreateSelect(is_odd, ir.CreateCopySign(result, x), result);
  // Of negative numbers only whole powers are real; the infinite one has a size.
  Value* is_negative = ir.CreateFCmpOLT(x, constant(x, 0));
  is_negative = ir.CreateAnd(
      is_negative, ir.CreateFCmpOLT(size, constant(x, std::numeric_limits<float>::infinity())));
  result = ir.CreateSelect(ir.CreateAnd(is_negative, ir.CreateNot(is_whole)),
                           llvm::ConstantFP::getNaN(x->getType()), result);
  Value* is_one = ir.CreateOr(ir.CreateFCmpOEQ(y, constant(x, 0)), ir.CreateFCmpOEQ(x, one));
  return ir.CreateSelect(is_one, one, result);
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
