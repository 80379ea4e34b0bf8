// All of x86-64-v4, and the instructions of AVX512-BF16.
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/IntrinsicsX86.h>

#include "compiler/target/x86.h"

namespace aoe::compiler {
namespace {

using llvm::Value;

class Avx512 final : public X86 {
 public:
  Avx512() : X86("avx512", {.bytes = 64, .registers = 32}) {}

  Value* pack_bf16(llvm::IRBuilderBase& ir, Value* low, Value* high) const override {
    Value* pairs = ir.CreateIntrinsic(llvm::Intrinsic::x86_avx512bf16_cvtne2ps2bf16_512, {},
                                      {high, low});  // the second operand gives the low half
    return ir.CreateBitCast(pairs, low->getType()->getWithNewType(ir.getInt32Ty()));
  }

  Value* dot_bf16(llvm::IRBuilderBase& ir, Value* a, Value* b, Value* sum) const override {
    auto* pairs = llvm::FixedVectorType::get(ir.getBFloatTy(), 32);
    return ir.CreateIntrinsic(llvm::Intrinsic::x86_avx512bf16_dpbf16ps_512, {},
                              {sum, ir.CreateBitCast(a, pairs), ir.CreateBitCast(b, pairs)});
  }
};

}  // namespace

const Target& x86_avx512() {
  static const Avx512 target;
  return target;
}

}  // namespace aoe::compiler
