// See angles.h. Angles up to some size are reduced by pi / 2 in three numbers; larger ones are multiplied with the digits of
// 2 / pi that count.
#include "compiler/loopnest/angles.h"

#include <llvm/IR/Constants.h>
#include <llvm/IR/Intrinsics.h>
#include <llvm/IR/Module.h>

#include <array>
#include <limits>

namespace aoe::compiler::loopnest {
namespace {

using llvm::Value;

/// The bits of 2 / pi behind the point. The first word is empty, for numbers whose product begins before it.
constexpr std::array<std::uint64_t, 21> kTwoOverPi = {
    0x0000000000000000u, 0xa2f9836e4e441529u, 0xfc2757d1f534ddc0u, 0xdb6295993c439041u,
    0xfe5163abdebbc561u, 0xb7246e3a424dd2e0u, 0x06492eea09d1921cu, 0xfe1deb1cb129a73eu,
    0xe88235f52ebb4484u, 0xe99c7026b45f7e41u, 0x3991d639835339f4u, 0x9c845f8bbdf9283bu,
    0x1ff897ffde05980fu, 0xef2f118b5a0a6d1fu, 0x6d367ecf27cb09b7u, 0x4f463f669e5fea2du,
    0x7527bac7ebe5f17bu, 0x3d0739f78a5292eau, 0x6bfb5fb11f8d5d08u, 0x56033046fc7b6babu,
    0xf0cfbc209af4361du};

/// 32 of these bits at every eighth: word j begins with the bit worth 2 when 2 / pi is multiplied by 2^(8 j - 8).
constexpr std::array<std::uint32_t, 23> bits_at_every_eighth() {
  std::array<std::uint32_t, 23> words = {};
  for (std::size_t j = 0; j < words.size(); ++j) {
    const std::size_t from = 64 - 10 + 8 * j, word = from / 64, bit = from % 64;
    const std::uint64_t next = bit == 0 ? 0 : kTwoOverPi[word + 1] >> (64 - bit);
    words[j] = static_cast<std::uint32_t>(((kTwoOverPi[word] << bit) | next) >> 32);
  }
  return words;
}
constexpr std::array<std::uint32_t, 23> kTwoOverPiByBytes = bits_at_every_eighth();
static_assert(kTwoOverPiByBytes[0] == 0x0028be60u && kTwoOverPiByBytes[22] == 0x10e4107fu);

llvm::GlobalVariable* table_of(IrBuilder& ir, llvm::Constant* words) {
  llvm::Module* module = ir.GetInsertBlock()->getModule();
  return new llvm::GlobalVariable(*module, words->getType(), true,
                                  llvm::GlobalValue::PrivateLinkage, words, "two_over_pi");
}

Value* or_nan(IrBuilder& ir, Value* rest, Value* x) {
  Value* is_finite = ir.CreateFCmpOLT(x, constant(x, std::numeric_limits<double>::infinity()));
  return ir.CreateSelect(is_finite, rest, llvm::ConstantFP::getNaN(x->getType()));
}

/// Of positive float x from 2^17 on: x = m * 2^k with m of 24 bits. Bits of 2 / pi that are multiples of four quadrants are
/// left out; the next 96 times m give the quadrant in two bits and its fraction in the others, of which 64 are kept.
Values reduce_large32(IrBuilder& ir, Value* x) {
  auto* table = table_of(ir, llvm::ConstantDataArray::get(ir.getContext(), kTwoOverPiByBytes));
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
  return {or_nan(ir, rest, x), ir.CreateTrunc(quadrant, narrow)};
}

/// Signed numbers of 128 bits in units of 2^-126, as the nearest double, to all its bits.
Value* double_of_fraction(IrBuilder& ir, Value* fraction) {
  llvm::Type *wide = fraction->getType(), *word = ir.getInt64Ty();
  const auto number = [&](std::uint64_t n) { return llvm::ConstantInt::get(wide, n); };
  Value* is_negative = ir.CreateICmpSLT(fraction, number(0));
  Value* size = ir.CreateSelect(is_negative, ir.CreateNeg(fraction), fraction);
  Value* zeros = ir.CreateBinaryIntrinsic(llvm::Intrinsic::ctlz, size, ir.getFalse());
  zeros = ir.CreateBinaryIntrinsic(llvm::Intrinsic::umin, zeros, number(127));
  Value* top = ir.CreateTrunc(ir.CreateLShr(ir.CreateShl(size, zeros), number(65)), word);
  // 63 bits in units of 2^(-61 - zeros)
  Value* exponent = ir.CreateSub(ir.getInt64(1023 - 61), ir.CreateTrunc(zeros, word));
  Value* scale = ir.CreateBitCast(ir.CreateShl(exponent, 52), ir.getDoubleTy());
  Value* result = ir.CreateFMul(ir.CreateSIToFP(top, ir.getDoubleTy()), scale);
  return ir.CreateSelect(is_negative, ir.CreateFNeg(result), result);
}

/// Of one positive double from 2^30 on, in the same way: 192 bits of 2 / pi, 128 of the product.
std::array<Value*, 2> reduce_large64(IrBuilder& ir, llvm::GlobalVariable* table, Value* x) {
  constexpr std::uint64_t kSmallestExponent = 1023 + 30, kLargestExponent = 2046;
  constexpr std::uint64_t kUnit = 1023 + 52;
  llvm::Type *word_type = ir.getInt64Ty(), *wide = ir.getInt128Ty();
  const auto number = [&](std::uint64_t n) { return llvm::ConstantInt::get(word_type, n); };
  Value* bits = ir.CreateBitCast(x, word_type);
  Value* exponent = ir.CreateLShr(bits, number(52));
  exponent = ir.CreateBinaryIntrinsic(llvm::Intrinsic::umin, exponent, number(kLargestExponent));
  exponent = ir.CreateBinaryIntrinsic(llvm::Intrinsic::umax, exponent, number(kSmallestExponent));
  constexpr std::uint64_t kImplicitBit = std::uint64_t{1} << 52;
  Value* mantissa = ir.CreateOr(ir.CreateAnd(bits, number(kImplicitBit - 1)), number(kImplicitBit));
  mantissa = ir.CreateZExt(mantissa, wide);
  // The bit worth 2 is the second one before that of the unit, counted behind the empty word.
  Value* from = ir.CreateSub(exponent, number(kUnit + 2 - 64));
  Value *first = ir.CreateLShr(from, number(6)), *bit = ir.CreateAnd(from, number(63));
  std::array<Value*, 4> words;
  for (std::size_t i = 0; i < words.size(); ++i) {
    Value* address = ir.CreateGEP(word_type, table, ir.CreateAdd(first, number(i)));
    words[i] = ir.CreateAlignedLoad(word_type, address, llvm::Align(8));
  }
  const auto product = [&](std::size_t i) {
    Value* aligned =
        ir.CreateIntrinsic(llvm::Intrinsic::fshl, {word_type}, {words[i], words[i + 1], bit});
    return ir.CreateMul(ir.CreateZExt(aligned, wide), mantissa);
  };
  Value* sum = ir.CreateAdd(ir.CreateShl(product(0), 64), product(1));
  sum = ir.CreateAdd(sum, ir.CreateLShr(product(2), 64));
  Value* half = ir.CreateShl(llvm::ConstantInt::get(wide, 1), 125);
  Value* quadrant = ir.CreateLShr(ir.CreateAdd(sum, half), 126);
  Value* fraction = ir.CreateSub(sum, ir.CreateShl(quadrant, 126));
  Value* rest = ir.CreateFMul(double_of_fraction(ir, fraction), constant(x, kPi / 2));
  return {or_nan(ir, rest, x), ir.CreateTrunc(quadrant, word_type)};
}

/// Lane by lane, in a loop: seldom run, and long.
Values reduce_lanes_of64(IrBuilder& ir, Value* x) {
  auto* table = table_of(ir, llvm::ConstantDataArray::get(ir.getContext(), kTwoOverPi));
  auto* type = llvm::dyn_cast<llvm::FixedVectorType>(x->getType());
  if (type == nullptr) {
    const auto [rest, number] = reduce_large64(ir, table, x);
    return {rest, number};
  }
  llvm::BasicBlock* before = ir.GetInsertBlock();
  llvm::Function* function = before->getParent();
  auto* lane_by_lane = llvm::BasicBlock::Create(ir.getContext(), "lane", function);
  auto* after = llvm::BasicBlock::Create(ir.getContext(), "after", function);
  ir.CreateBr(lane_by_lane);
  ir.SetInsertPoint(lane_by_lane);
  const auto changing = [&](Value* start) {
    llvm::PHINode* phi = ir.CreatePHI(start->getType(), 2);
    phi->addIncoming(start, before);
    return phi;
  };
  llvm::PHINode* lane = changing(ir.getInt64(0));
  llvm::PHINode* rests = changing(llvm::Constant::getNullValue(type));
  llvm::PHINode* numbers = changing(llvm::Constant::getNullValue(int_type(x, 64)));
  const auto [rest, number] = reduce_large64(ir, table, ir.CreateExtractElement(x, lane));
  Value* next = ir.CreateAdd(lane, ir.getInt64(1));
  Value* all_rests = ir.CreateInsertElement(rests, rest, lane);
  Value* all_numbers = ir.CreateInsertElement(numbers, number, lane);
  lane->addIncoming(next, lane_by_lane);
  rests->addIncoming(all_rests, lane_by_lane);
  numbers->addIncoming(all_numbers, lane_by_lane);
  ir.CreateCondBr(ir.CreateICmpULT(next, ir.getInt64(type->getNumElements())), lane_by_lane, after);
  ir.SetInsertPoint(after);
  return {all_rests, all_numbers};
}

/// How far three numbers of a type, which add up to pi / 2, reach: the difference to the product with the first is exact.
struct Reach {
  double high, middle, low;
  double limit;
  double rounding_magic;  ///< 1.5 * 2^(bits of the mantissa): see vector_math.cpp
};
constexpr Reach kReach32 = {0x1.921fb6p+0, -0x1.777a5cp-25, -0x1.ee59dap-50, 0x1p17, 0x1.8p23};
constexpr Reach kReach64 = {0x1.921fb54442d18p+0, 0x1.1a62633145c07p-54, -0x1.f1976b7ed8fbcp-110,
                            0x1p30, 0x1.8p52};

}  // namespace

Quadrant reduce_angle(IrBuilder& ir, Value* x) {
  const Reach& reach = is_double(x) ? kReach64 : kReach32;
  Value* magic = constant(x, reach.rounding_magic);
  Value* shifted = emit_fma(ir, x, constant(x, 2 / kPi), magic);
  Value* n = ir.CreateFSub(shifted, magic);
  Value* rest = emit_fma(ir, n, constant(x, -reach.high), x);
  rest = emit_fma(ir, n, constant(x, -reach.middle), rest);
  rest = emit_fma(ir, n, constant(x, -reach.low), rest);
  Value* is_large = ir.CreateFCmpUGE(x, constant(x, reach.limit));  // or NaN
  const Values chosen =
      with_rare(ir, is_large, {rest, ir.CreateBitCast(shifted, bits_type(x))},
                [&] { return is_double(x) ? reduce_lanes_of64(ir, x) : reduce_large32(ir, x); });
  return {chosen[0], chosen[1]};
}

}  // namespace aoe::compiler::loopnest
