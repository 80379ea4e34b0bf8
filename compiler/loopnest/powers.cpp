// See powers.h.
#include "compiler/loopnest/powers.h"

#include <llvm/IR/Constants.h>
#include <llvm/IR/Intrinsics.h>

#include <limits>

#include "compiler/loopnest/float64_functions.h"

namespace aoe::compiler::loopnest {
namespace {

using llvm::Value;

Value* truncated(IrBuilder& ir, Value* x) {
  return ir.CreateUnaryIntrinsic(llvm::Intrinsic::trunc, x);
}

// ---- remainders of x by y, neither below 0 ----

Value* remainder32(IrBuilder& ir, Value* x, Value* y) {
  // In double precision a quotient's integer part q has 53 exact bits, and r - q y is exact: each step takes 52 bits off
  // the quotient, whose exponents differ by at most 277. A quotient that was rounded up leaves a small r of the other
  // sign, which one |y| puts right.
  llvm::Type* real = x->getType()->getWithNewType(ir.getDoubleTy());
  const auto number = [&](double n) { return llvm::ConstantFP::get(real, n); };
  Value *dividend = ir.CreateFPExt(x, real), *divisor = ir.CreateFPExt(y, real);
  const auto step = [&](Value* r) {
    Value* q = truncated(ir, ir.CreateFDiv(r, divisor));
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
  return ir.CreateFPTrunc(r, x->getType());
}

/// By steps as those of float, as many as it takes; of a y so small that the quotient is no number, by multiples of it first.
Value* remainder64(IrBuilder& ir, Value* x, Value* y) {
  constexpr double kFar = 0x1p700;
  Value* far = ir.CreateFMul(y, constant(y, kFar));
  Value* farther = ir.CreateFMul(far, constant(y, kFar));
  Value* start = ir.CreateSelect(ir.CreateFCmpUNO(y, y), y, x);
  llvm::BasicBlock* before = ir.GetInsertBlock();
  const auto block = [&](const char* name) {
    return llvm::BasicBlock::Create(ir.getContext(), name, before->getParent());
  };
  llvm::BasicBlock *head = block("remainder"), *body = block("step"), *after = block("after");
  ir.CreateBr(head);
  ir.SetInsertPoint(head);
  llvm::PHINode* r = ir.CreatePHI(x->getType(), 2);
  r->addIncoming(start, before);
  Value* size = magnitude(ir, r);
  Value* is_long = ir.CreateFCmpOGE(size, y);
  Value* any = is_long->getType()->isVectorTy() ? ir.CreateOrReduce(is_long) : is_long;
  ir.CreateCondBr(any, body, after);
  ir.SetInsertPoint(body);
  Value* divisor = ir.CreateSelect(ir.CreateFCmpOGE(size, far), far, y);
  divisor = ir.CreateSelect(ir.CreateFCmpOGE(size, farther), farther, divisor);
  Value* q = truncated(ir, ir.CreateFDiv(r, divisor));
  r->addIncoming(emit_fma(ir, ir.CreateFNeg(q), divisor, r), body);
  ir.CreateBr(head);
  ir.SetInsertPoint(after);
  return ir.CreateSelect(ir.CreateFCmpOLT(r, constant(r, 0)), ir.CreateFAdd(r, y), r);
}

// ---- powers ----

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

/// The exponent y log size, to more digits than the type has: what it is off, the result is off relatively.
struct Exponent {
  Value *high, *low;
};

Exponent exponent32(IrBuilder& ir, Value* size, Value* y) {
  llvm::Type* real = size->getType()->getWithNewType(ir.getDoubleTy());
  Value* exponent = ir.CreateFMul(ir.CreateFPExt(y, real), wide_log(ir, size));
  Value* high = ir.CreateFPTrunc(exponent, size->getType());
  return {high,
          ir.CreateFPTrunc(ir.CreateFSub(exponent, ir.CreateFPExt(high, real)), size->getType())};
}

Exponent exponent64(IrBuilder& ir, Value* size, Value* y) {
  const LongLog log = emit_long_log64(ir, size);
  Value* high = ir.CreateFMul(y, log.high);
  Value* rounding = emit_fma(ir, y, log.high, ir.CreateFNeg(high));
  return {high, emit_fma(ir, y, log.low, rounding)};
}

/// size^y = e^(y log size).
Value* power_of_size(IrBuilder& ir, Value* size, Value* y) {
  const auto [high, low] = is_double(size) ? exponent64(ir, size, y) : exponent32(ir, size, y);
  Value* is_small = ir.CreateFCmpOLT(magnitude(ir, low), constant(size, 1));
  Value* rest = ir.CreateSelect(is_small, low, constant(size, 0));  // where high is infinite
  return ir.CreateFMul(emit_exp(ir, high), ir.CreateFAdd(rest, constant(size, 1)));
}

}  // namespace

Value* emit_fmod(IrBuilder& ir, Value* x, Value* y) {
  Value *dividend = magnitude(ir, x), *divisor = magnitude(ir, y);
  Value* result =
      is_double(x) ? remainder64(ir, dividend, divisor) : remainder32(ir, dividend, divisor);
  Value* is_within = ir.CreateFCmpOLT(dividend, divisor);  // y may be infinite
  result = ir.CreateSelect(is_within, x, result);
  return ir.CreateCopySign(result, x);
}

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

}  // namespace aoe::compiler::loopnest
