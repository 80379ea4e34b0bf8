// LLVM's back end, and products of byte quads with and without VNNI.
#include "compiler/target/x86.h"

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/IntrinsicsX86.h>
#include <llvm/Support/TargetSelect.h>

#include <numeric>
#include <string>

#include "base/check.h"

namespace aoe::compiler {
namespace {

using llvm::Value;

unsigned lanes_of(const Value* a) {
  return llvm::cast<llvm::FixedVectorType>(a->getType())->getNumElements();
}

Value* half(llvm::IRBuilderBase& ir, Value* a, unsigned which) {
  const unsigned count = lanes_of(a) / 2;
  llvm::SmallVector<int> from(count);
  std::iota(from.begin(), from.end(), static_cast<int>(which * count));
  return ir.CreateShuffleVector(a, from);
}

Value* joined(llvm::IRBuilderBase& ir, Value* low, Value* high) {
  llvm::SmallVector<int> from(2 * lanes_of(low));
  std::iota(from.begin(), from.end(), 0);
  return ir.CreateShuffleVector(low, high, from);
}

/// What pmaddwd multiplies: twice as many words as lanes.
Value* as_words(llvm::IRBuilderBase& ir, Value* a) {
  return ir.CreateBitCast(a, llvm::FixedVectorType::get(ir.getInt16Ty(), 2 * lanes_of(a)));
}

/// Sums of neighbouring products of words, exact in 32 bits but for four times -32768, which wraps around.
Value* multiply_pairs(llvm::IRBuilderBase& ir, Value* a, Value* b, int vector_bytes) {
  if (lanes_of(a) == 16) return ir.CreateIntrinsic(llvm::Intrinsic::x86_avx2_pmadd_wd, {}, {a, b});
  if (vector_bytes == 64)
    return ir.CreateIntrinsic(llvm::Intrinsic::x86_avx512_pmaddw_d_512, {}, {a, b});
  const auto part = [&](unsigned which) {
    return multiply_pairs(ir, half(ir, a, which), half(ir, b, which), vector_bytes);
  };
  return joined(ir, part(0), part(1));
}

/// Bytes 0 and 2, then 1 and 3, widened to 16 bits.
Value* dot_in_pairs(llvm::IRBuilderBase& ir, Value* a, Value* b, Value* sum, int vector_bytes) {
  a = as_words(ir, a);
  b = as_words(ir, b);
  const auto shift = [&](std::uint64_t n) { return llvm::ConstantInt::get(a->getType(), n); };
  Value* even = multiply_pairs(ir, ir.CreateAnd(a, shift(0xff)),
                               ir.CreateAShr(ir.CreateShl(b, shift(8)), shift(8)), vector_bytes);
  Value* odd =
      multiply_pairs(ir, ir.CreateLShr(a, shift(8)), ir.CreateAShr(b, shift(8)), vector_bytes);
  return ir.CreateAdd(sum, ir.CreateAdd(even, odd));
}

}  // namespace

Value* X86::pick(llvm::IRBuilderBase& ir, Value* places, Value* a, Value* b) const {
  const unsigned lanes = lanes_of(a);
  if (lanes == 16 && vector_bytes() == 64)
    return ir.CreateIntrinsic(llvm::Intrinsic::x86_avx512_vpermi2var_d_512, {}, {a, places, b});
  AOE_CHECK(lanes == 8 || lanes == 16, "pick() of " + std::to_string(lanes) + " lanes");
  const auto pick_from = [&](Value* at, const auto& from) {
    Value* behind = ir.CreateAnd(at, llvm::ConstantInt::get(at->getType(), lanes));
    return ir.CreateSelect(ir.CreateIsNotNull(behind), from(b), from(a));
  };
  if (lanes == 8)
    return pick_from(places, [&](Value* source) {
      return ir.CreateIntrinsic(llvm::Intrinsic::x86_avx2_permd, {}, {source, places});
    });
  const auto part = [&](unsigned which) {
    Value* at = half(ir, places, which);
    return pick_from(
        at, [&](Value* source) { return pick(ir, at, half(ir, source, 0), half(ir, source, 1)); });
  };
  return joined(ir, part(0), part(1));
}

Value* X86::dot_u8s8(llvm::IRBuilderBase& ir, Value* a, Value* b, Value* sum, bool has_vnni) const {
  const unsigned lanes = lanes_of(a);
  AOE_CHECK(lanes == 8 || lanes == 16, "dot_u8s8() of " + std::to_string(lanes) + " lanes");
  const auto dot = lanes == 16 ? llvm::Intrinsic::x86_avx512_vpdpbusd_512
                               : llvm::Intrinsic::x86_avx512_vpdpbusd_256;
  return has_vnni ? ir.CreateIntrinsic(dot, {}, {sum, a, b})
                  : dot_in_pairs(ir, a, b, sum, vector_bytes());
}

Value* X86::dot_i16(llvm::IRBuilderBase& ir, Value* a, Value* b, Value* sum, bool has_vnni) const {
  const unsigned lanes = lanes_of(a);
  AOE_CHECK(lanes == 8 || lanes == 16, "dot_i16() of " + std::to_string(lanes) + " lanes");
  const auto dot = lanes == 16 ? llvm::Intrinsic::x86_avx512_vpdpwssd_512
                               : llvm::Intrinsic::x86_avx512_vpdpwssd_256;
  if (has_vnni) return ir.CreateIntrinsic(dot, {}, {sum, a, b});
  return ir.CreateAdd(sum, multiply_pairs(ir, as_words(ir, a), as_words(ir, b), vector_bytes()));
}

Value* X86::round_to_int32(llvm::IRBuilderBase& ir, Value* a) const {
  const auto* type = llvm::dyn_cast<llvm::FixedVectorType>(a->getType());
  const unsigned lanes = type == nullptr ? 1 : type->getNumElements();
  if (lanes == 16 && vector_bytes() == 64) {
    constexpr int kToNearest = 8;  // whatever the caller's rounding mode
    auto* integers = llvm::FixedVectorType::get(ir.getInt32Ty(), lanes);
    return ir.CreateIntrinsic(
        llvm::Intrinsic::x86_avx512_mask_cvtps2dq_512, {},
        {a, llvm::Constant::getNullValue(integers), ir.getInt16(0xffff), ir.getInt32(kToNearest)});
  }
  if (lanes == 8) return ir.CreateIntrinsic(llvm::Intrinsic::x86_avx_cvt_ps2dq_256, {}, {a});
  if (lanes == 4) return ir.CreateIntrinsic(llvm::Intrinsic::x86_sse2_cvtps2dq, {}, {a});
  return Target::round_to_int32(ir, a);
}

const char* X86::triple() const {
  return "x86_64-unknown-linux-gnu";
}

void X86::initialise_llvm() const {
  LLVMInitializeX86TargetInfo();
  LLVMInitializeX86Target();
  LLVMInitializeX86TargetMC();
  LLVMInitializeX86AsmPrinter();
  LLVMInitializeX86AsmParser();
}

}  // namespace aoe::compiler
