// See vector_math.h. The polynomials are Chebyshev fits made for these intervals; the error of each
// is noted beside it.
#include "compiler/loopnest/vector_math.h"

#include <llvm/IR/Constants.h>
#include <llvm/IR/Intrinsics.h>

#include <limits>

#include "base/check.h"
#include "compiler/loopnest/float64_functions.h"
#include "compiler/loopnest/lane_moves.h"

namespace aoe::compiler::loopnest {
namespace {

using llvm::Value;

/// How numbers are stored.
struct NumberFormat {
  Ln2 ln2;
  double log2_e;
  /// 1.5 * 2^(bits of a mantissa): adding it rounds to an integer, which then stands in the low bits of the sum.
  double rounding_magic;
  std::uint64_t rounding_magic_bits;
  unsigned mantissa_bits;
  std::uint64_t exponent_bias;
};
constexpr NumberFormat kFloatFormat{kLn2Float, 1.44269504f, 0x1.8p23, 0x4b400000u, 23, 127};
constexpr NumberFormat kDoubleFormat{
    kLn2Double, 1.4426950408889634, 0x1.8p52, 0x4338000000000000u, 52, 1023};

const NumberFormat& format_of(Value* x) {
  return is_double(x) ? kDoubleFormat : kFloatFormat;
}

bool is_number_constant(Value* v) {
  const auto* c = llvm::dyn_cast<llvm::Constant>(v);
  if (c == nullptr) return false;
  if (c->getType()->isVectorTy()) c = c->getSplatValue();
  const auto* number = llvm::dyn_cast_or_null<llvm::ConstantFP>(c);
  return number != nullptr && !number->isNaN();
}

Value* not_a_number(Value* like) {
  return llvm::ConstantFP::getNaN(like->getType());
}

/// vminps/vmaxps, which return their second operand when one is NaN: that is right when the first is a number.
Value* first_or_second(IrBuilder& ir, llvm::CmpInst::Predicate first_wins, Value* a, Value* b) {
  return ir.CreateSelect(ir.CreateFCmp(first_wins, a, b), a, b);
}

/// NaN of `a` becomes a constant: as `a` itself it would be chosen by both comparisons joined, two masks in place of vmaxps; and of
/// abs(x) and 0 so chosen LLVM 19 compares x itself.
Value* emit_extreme(IrBuilder& ir, llvm::CmpInst::Predicate first_wins, Value* a, Value* b) {
  if (is_number_constant(b)) std::swap(a, b);
  Value* extreme = first_or_second(ir, first_wins, a, b);
  if (is_number_constant(a)) return extreme;
  return ir.CreateSelect(ir.CreateFCmpUNO(a, a), not_a_number(a), extreme);
}

/// One question for NaN in place of one at each step.
Value* reduce_extreme(IrBuilder& ir, llvm::CmpInst::Predicate first_wins, Value* a) {
  Value* extreme = emit_reduction(
      ir, a, [&](Value* x, Value* y) { return first_or_second(ir, first_wins, x, y); });
  Value* has_nan = ir.CreateFCmpUNO(a, a);
  if (has_nan->getType()->isVectorTy()) has_nan = ir.CreateOrReduce(has_nan);
  return ir.CreateSelect(has_nan, not_a_number(extreme), extreme);
}

}  // namespace

llvm::Type* lane_type(IrBuilder& ir, loopnest::Type type, int lanes) {
  llvm::Type* lane = nullptr;
  switch (type) {
    case loopnest::Type::kFloat:
      lane = ir.getFloatTy();
      break;
    case loopnest::Type::kDouble:
      lane = ir.getDoubleTy();
      break;
    case loopnest::Type::kInt32:
      lane = ir.getInt32Ty();
      break;
    case loopnest::Type::kInt64:
      lane = ir.getInt64Ty();
      break;
    case loopnest::Type::kFloat16:
      lane = ir.getHalfTy();
      break;
    case loopnest::Type::kBfloat16:
      lane = ir.getBFloatTy();
      break;
    case loopnest::Type::kInt16:
      lane = ir.getInt16Ty();
      break;
    case loopnest::Type::kInt8:
    case loopnest::Type::kUint8:
      lane = ir.getInt8Ty();
      break;
    default:
      AOE_CHECK(false, "lanes of an index or a condition");
  }
  return lanes == 1 ? lane : llvm::FixedVectorType::get(lane, static_cast<unsigned>(lanes));
}

Value* words_of(IrBuilder& ir, Value* narrow) {
  const auto bits = static_cast<unsigned>(narrow->getType()->getPrimitiveSizeInBits());
  AOE_CHECK(bits % 32 == 0, "narrow lanes that are no words");
  return ir.CreateBitCast(narrow,
                          lane_type(ir, loopnest::Type::kInt32, static_cast<int>(bits / 32)));
}

Value* constant(Value* like, double value) {
  return llvm::ConstantFP::get(like->getType(), value);
}

llvm::Type* int_type(Value* like, unsigned bits) {
  return like->getType()->getWithNewType(llvm::Type::getIntNTy(like->getContext(), bits));
}

Value* int_constant(Value* like, std::uint32_t value) {
  return llvm::ConstantInt::get(int_type(like), value);
}

bool is_double(Value* x) {
  return x->getType()->getScalarType()->isDoubleTy();
}

llvm::Type* bits_type(Value* like) {
  return int_type(like, like->getType()->getScalarSizeInBits());
}

Value* bits_constant(Value* like, std::uint64_t value) {
  return llvm::ConstantInt::get(bits_type(like), value);
}

Value* magnitude(IrBuilder& ir, Value* x) {
  return ir.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, x);
}

Value* emit_sqrt(IrBuilder& ir, Value* x) {
  return ir.CreateUnaryIntrinsic(llvm::Intrinsic::sqrt, x);
}

namespace {

Value* by_horners_rule(IrBuilder& ir, Value* x, std::initializer_list<double> coefficients) {
  const double* last = coefficients.end() - 1;
  Value* sum = constant(x, *last);
  while (last != coefficients.begin()) sum = emit_fma(ir, sum, x, constant(x, *--last));
  return sum;
}

}  // namespace

Value* polynomial(IrBuilder& ir, Value* x, std::initializer_list<double> coefficients) {
  if (is_double(x)) return by_horners_rule(ir, x, coefficients);
  Values terms;
  for (const double each : coefficients) terms.push_back(constant(x, each));
  for (Value* power = x; terms.size() > 1; power = ir.CreateFMul(power, power)) {
    Values sums;
    for (std::size_t i = 0; i + 1 < terms.size(); i += 2)
      sums.push_back(emit_fma(ir, terms[i + 1], power, terms[i]));
    if (terms.size() % 2 == 1) sums.push_back(terms.back());
    terms = std::move(sums);
  }
  return terms[0];
}

ReducedExp reduce_exp(IrBuilder& ir, Value* x) {
  const NumberFormat& format = format_of(x);
  Value* magic = constant(x, format.rounding_magic);
  Value* shifted = emit_fma(ir, x, constant(x, format.log2_e), magic);
  Value* n = ir.CreateFSub(shifted, magic);
  Value* r = emit_fma(ir, n, constant(x, -format.ln2.high), x);
  r = emit_fma(ir, n, constant(x, -format.ln2.low), r);
  Value* q =
      is_double(x)
          ? polynomial(
                ir, r,
                {1.0 / 2, 1.0 / 6, 1.0 / 24, 1.0 / 120, 1.0 / 720, 1.0 / 5040, 1.0 / 40320,
                 1.0 / 362880, 1.0 / 3628800, 1.0 / 39916800, 1.0 / 479001600, 1.0 / 6227020800})
          : polynomial(ir, r,
                       {0.5, 0.166665766661, 0.041666554213, 0.00836323288368, 0.00139262508315});
  Value* fraction_minus1 = emit_fma(ir, ir.CreateFMul(r, r), q, r);
  Value* bits = ir.CreateBitCast(shifted, bits_type(x));
  return {ir.CreateSub(bits, bits_constant(x, format.rounding_magic_bits)), fraction_minus1};
}

Value* power_of_two(IrBuilder& ir, Value* n, Value* like) {
  const NumberFormat& format = format_of(like);
  Value* biased = ir.CreateAdd(n, bits_constant(like, format.exponent_bias));
  return ir.CreateBitCast(ir.CreateShl(biased, format.mantissa_bits), like->getType());
}

Value* with_special_logs(IrBuilder& ir, Value* x, Value* result) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  result = ir.CreateSelect(ir.CreateFCmpOEQ(x, constant(x, kInfinity)), x, result);
  result = ir.CreateSelect(ir.CreateFCmpOEQ(x, constant(x, 0)), constant(x, -kInfinity), result);
  Value* nan = llvm::ConstantFP::getNaN(x->getType());
  return ir.CreateSelect(ir.CreateFCmpULT(x, constant(x, 0)), nan, result);
}

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

Value* emit_expm1(IrBuilder& ir, Value* x) {
  const ReducedExp e = reduce_exp(ir, x);
  Value* scale = power_of_two(ir, e.n, x);
  return emit_fma(ir, scale, e.fraction_minus1, ir.CreateFSub(scale, constant(x, 1)));
}

Value* emit_fma(IrBuilder& ir, Value* a, Value* b, Value* c) {
  return ir.CreateIntrinsic(llvm::Intrinsic::fma, {a->getType()}, {a, b, c});
}

Value* emit_min(IrBuilder& ir, Value* a, Value* b) {
  return emit_extreme(ir, llvm::CmpInst::FCMP_OLT, a, b);
}

Value* emit_max(IrBuilder& ir, Value* a, Value* b) {
  return emit_extreme(ir, llvm::CmpInst::FCMP_OGT, a, b);
}

Value* emit_reduce_max(IrBuilder& ir, Value* a) {
  return reduce_extreme(ir, llvm::CmpInst::FCMP_OGT, a);
}

Value* emit_reduce_min(IrBuilder& ir, Value* a) {
  return reduce_extreme(ir, llvm::CmpInst::FCMP_OLT, a);
}

/// vmaxps keeps a NaN of `a`, its second operand; one comparison asks for those of `b` and `c`.
Value* emit_max3(IrBuilder& ir, Value* a, Value* b, Value* c) {
  Value* largest = a;
  for (Value* x : {b, c}) largest = ir.CreateSelect(ir.CreateFCmpOGT(x, largest), x, largest);
  return ir.CreateSelect(ir.CreateFCmpUNO(b, c), ir.CreateFAdd(b, c), largest);
}

Value* emit_exp(IrBuilder& ir, Value* x) {
  if (is_double(x)) return emit_exp64(ir, x);
  // What would come out denormal is 0: softmax of masked scores would otherwise meet the slow path for denormal results in
  // every element. Above, the result is +inf.
  constexpr double kSmallest = -86.6;  // 2^-125
  Value* is_tiny = ir.CreateFCmpOLT(x, constant(x, kSmallest));
  x = emit_min(ir, constant(x, 89.5), emit_max(ir, constant(x, kSmallest), x));
  const ReducedExp e = reduce_exp(ir, x);
  // Twice the fraction times 2^(n-1): e^88.5 is a float, but its n of 128 has no 2^n.
  Value* half = power_of_two(ir, ir.CreateSub(e.n, int_constant(x, 1)), x);
  Value* twice = emit_fma(ir, e.fraction_minus1, constant(x, 2), constant(x, 2));
  return ir.CreateSelect(is_tiny, constant(x, 0), ir.CreateFMul(twice, half));
}

Split emit_split(IrBuilder& ir, Value* x) {
  Value* is_denormal = ir.CreateFCmpOLT(x, constant(x, 0x1p-126));
  Value* normal = ir.CreateSelect(is_denormal, ir.CreateFMul(x, constant(x, 0x1p23)), x);
  constexpr std::uint32_t kSqrtHalfBits = 0x3f3504f3u, kMantissaBits = kFloatFormat.mantissa_bits;
  Value* bits = ir.CreateBitCast(normal, int_type(x));
  Value* e = ir.CreateAShr(ir.CreateSub(bits, int_constant(x, kSqrtHalfBits)), kMantissaBits);
  Value* m =
      ir.CreateBitCast(ir.CreateSub(bits, ir.CreateShl(e, kMantissaBits)), normal->getType());
  Value* moved = ir.CreateSelect(is_denormal, int_constant(x, kMantissaBits), int_constant(x, 0));
  return {m, ir.CreateSub(e, moved)};
}

Value* emit_log(IrBuilder& ir, Value* x) {
  if (is_double(x)) return emit_log64(ir, x);
  const auto [m, e] = emit_split(ir, x);
  Value* exponent = ir.CreateSIToFP(e, x->getType());
  // log(1 + f) = f + f^2 (f P(f) - 1/2), P to 2.9e-8
  Value* f = ir.CreateFSub(m, constant(x, 1));
  Value* p =
      polynomial(ir, f,
                 {0.3333333118, -0.24999996958, 0.200007157489, -0.166678023195, 0.142490576457,
                  -0.124256873315, 0.116854199235, -0.114797338466, 0.0697161147145});
  Value* tail = emit_fma(ir, f, p, constant(x, -0.5));
  tail =
      emit_fma(ir, ir.CreateFMul(f, f), tail, ir.CreateFMul(exponent, constant(x, kLn2Float.low)));
  Value* result = emit_fma(ir, exponent, constant(x, kLn2Float.high), ir.CreateFAdd(f, tail));
  return with_special_logs(ir, x, result);
}

namespace {

/// 2^n of a float `shifted` = n + the magic number.
Value* scale_of(IrBuilder& ir, Value* shifted) {
  Value* bits = ir.CreateBitCast(shifted, bits_type(shifted));
  return power_of_two(
      ir, ir.CreateSub(bits, bits_constant(shifted, kFloatFormat.rounding_magic_bits)), shifted);
}

/// 2^z - 1 of float for -125 <= z <= 126: to 7.5e-9 of it, and what rounding z makes of large ones.
Value* emit_exp2m1(IrBuilder& ir, Value* z) {
  Value* magic = constant(z, kFloatFormat.rounding_magic);
  Value* shifted = ir.CreateFAdd(z, magic);
  Value* rest = ir.CreateFSub(z, ir.CreateFSub(shifted, magic));
  Value* q = polynomial(ir, rest,
                        {0.693147187927, 0.24022649795, 0.0555035743364, 0.00961823749433,
                         0.00133907354778, 0.000154035125741});
  Value* scale = scale_of(ir, shifted);
  return emit_fma(ir, scale, ir.CreateFMul(rest, q), ir.CreateFSub(scale, constant(z, 1)));
}

constexpr double kLog2E = 1.4426950408889634;
constexpr double kRestOfLog2E = double{1.4426950408889634f} - kLog2E;

}  // namespace

Value* emit_tanh(IrBuilder& ir, Value* x) {
  // tanh |x| = t / (t + 2) with t = e^(2|x|) - 1; beyond 10 it is 1 in float32, beyond 22 in float64
  Value* size = magnitude(ir, x);
  Value* t = is_double(x) ? emit_expm1(ir, emit_min(ir, constant(x, 44), ir.CreateFAdd(size, size)))
                          : emit_exp2m1(ir, emit_min(ir, constant(x, 20 * kLog2E),
                                                     ir.CreateFMul(size, constant(x, 2 * kLog2E))));
  return ir.CreateCopySign(ir.CreateFDiv(t, ir.CreateFAdd(t, constant(x, 2))), x);
}

Value* emit_erf(IrBuilder& ir, Value* x) {
  if (is_double(x)) return emit_erf64(ir, x);
  // erf a = 1 - 2^(a Q(a)) with Q(a) = log2(erfc a) / a on [0, 4], to 2.4e-8; beyond 4 it is 1 in
  // float32
  Value* a = emit_min(ir, constant(x, 4), magnitude(ir, x));
  Value* q = polynomial(ir, a,
                        {-1.6279070341, -0.91844789277, -0.148270618177, 0.0275863288027,
                         0.000372432294371, -0.00263007738339, 0.00111358708222, -0.000271359650083,
                         4.14682228712e-5, -3.69151766263e-6, 1.46285998415e-7});
  return ir.CreateCopySign(emit_exp2m1(ir, ir.CreateFMul(a, q)), x);
}

Value* emit_sigmoid(IrBuilder& ir, Value* x) {
  Value* one = constant(x, 1);
  if (is_double(x)) return ir.CreateFDiv(one, ir.CreateFAdd(one, emit_exp(ir, ir.CreateFNeg(x))));
  // e^-x as 2^n times 2^f, which is off by 1e-7 of it: by 2.4e-8 at most in the result. Below -88.4 it is infinite, beyond 87 nothing to add to 1.
  Value* y = emit_max(ir, constant(x, -89), emit_min(ir, constant(x, 87), x));
  Value *log2_e = constant(x, -kLog2E), *magic = constant(x, kFloatFormat.rounding_magic);
  Value* shifted = emit_fma(ir, y, log2_e, magic);
  Value* rest = emit_fma(ir, y, log2_e, ir.CreateFSub(magic, shifted));
  rest = emit_fma(ir, y, constant(x, kRestOfLog2E), rest);
  Value* power = polynomial(
      ir, rest,
      {1, 0.693147214911, 0.24022234624, 0.0555030836264, 0.00967187507085, 0.00134072589496});
  return ir.CreateFDiv(one, emit_fma(ir, power, scale_of(ir, shifted), one));
}

// ---- pairs of float16 ----

Value* emit_fma_f16(IrBuilder& ir, Value* a, Value* b, Value* sum, bool has_fp16) {
  llvm::Type* halves = a->getType();
  if (has_fp16) return ir.CreateIntrinsic(llvm::Intrinsic::fma, {halves}, {a, b, sum});
  llvm::Type* wide = halves->getWithNewType(ir.getFloatTy());
  Value* factors[] = {a, b, sum};
  for (Value*& factor : factors) factor = ir.CreateFPExt(factor, wide);
  return ir.CreateFPTrunc(ir.CreateIntrinsic(llvm::Intrinsic::fma, {wide}, factors), halves);
}

}  // namespace aoe::compiler::loopnest
