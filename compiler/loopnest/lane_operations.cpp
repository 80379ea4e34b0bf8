// See lane_operations.h.
#include "compiler/loopnest/lane_operations.h"

#include <llvm/IR/Intrinsics.h>

#include "base/check.h"
#include "compiler/loopnest/lane_moves.h"
#include "compiler/loopnest/powers.h"
#include "compiler/loopnest/vector_functions.h"

namespace aoe::compiler::loopnest {
namespace {

using llvm::Value;

bool is_real(Value* a) {
  return a->getType()->isFPOrFPVectorTy();
}

/// Of integer lanes, and of masks.
Value* of_integers(IrBuilder& ir, Op op, Value* a, Value* b) {
  switch (op) {
    case Op::kAdd:
      return ir.CreateAdd(a, b);
    case Op::kSub:
      return ir.CreateSub(a, b);
    case Op::kMul:
      return ir.CreateMul(a, b);
    case Op::kDiv:
      return emit_int_divide(ir, a, b, true);
    case Op::kUnsignedDiv:
      return emit_int_divide(ir, a, b, false);
    case Op::kMin:
      return ir.CreateBinaryIntrinsic(llvm::Intrinsic::smin, a, b);
    case Op::kMax:
      return ir.CreateBinaryIntrinsic(llvm::Intrinsic::smax, a, b);
    case Op::kShiftLeft:
      return ir.CreateShl(a, b);
    case Op::kShiftRight:
      return ir.CreateLShr(a, b);
    case Op::kBitAnd:
      return ir.CreateAnd(a, b);
    case Op::kBitOr:
      return ir.CreateOr(a, b);
    case Op::kBitXor:
      return ir.CreateXor(a, b);
    case Op::kFloatLess:
      return ir.CreateICmpSLT(a, b);
    case Op::kFloatLessEqual:
      return ir.CreateICmpSLE(a, b);
    case Op::kFloatEqual:
      return ir.CreateICmpEQ(a, b);
    default:
      AOE_CHECK(false, "not an operation on integer lanes");
  }
}

Value* reduce(IrBuilder& ir, Op op, Value* a) {
  return emit_reduction(ir, a, [&](Value* x, Value* y) { return emit_binary(ir, op, x, y); });
}

}  // namespace

Value* emit_unary(IrBuilder& ir, Op op, Value* a) {
  switch (op) {
    case Op::kMaskNot:
      return ir.CreateNot(a);
    case Op::kNeg:
      return is_real(a) ? ir.CreateFNeg(a) : ir.CreateNeg(a);
    case Op::kAbs:
      return ir.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, a);
    case Op::kFloor:
      return ir.CreateUnaryIntrinsic(llvm::Intrinsic::floor, a);
    case Op::kRoundEven:
      return ir.CreateUnaryIntrinsic(llvm::Intrinsic::roundeven, a);
#define REAL_FUNCTION(op, function) \
  case Op::op:                      \
    return emit_##function(ir, a);
#include "base/real_functions.inc"
#undef REAL_FUNCTION
    case Op::kSigmoid:
      return emit_sigmoid(ir, a);
    case Op::kReduceAdd:
      return reduce(ir, Op::kAdd, a);
    case Op::kReduceMax:
      return is_real(a) ? emit_reduce_max(ir, a) : reduce(ir, Op::kMax, a);
    case Op::kReduceMin:
      return is_real(a) ? emit_reduce_min(ir, a) : reduce(ir, Op::kMin, a);
    default:
      AOE_CHECK(false, "not a unary vector operation");
  }
}

Value* emit_binary(IrBuilder& ir, Op op, Value* a, Value* b) {
  if (!is_real(a)) return of_integers(ir, op, a, b);
  switch (op) {
    case Op::kAdd:
      return ir.CreateFAdd(a, b);
    case Op::kSub:
      return ir.CreateFSub(a, b);
    case Op::kMul:
      return ir.CreateFMul(a, b);
    case Op::kDiv:
      return ir.CreateFDiv(a, b);
    case Op::kMin:
      return emit_min(ir, a, b);
    case Op::kMax:
      return emit_max(ir, a, b);
    case Op::kFmod:
      return emit_fmod(ir, a, b);
    case Op::kPow:
      return emit_pow(ir, a, b);
    case Op::kFloatLess:
      return ir.CreateFCmpOLT(a, b);
    case Op::kFloatLessEqual:
      return ir.CreateFCmpOLE(a, b);
    case Op::kFloatEqual:
      return ir.CreateFCmpOEQ(a, b);
    default:
      AOE_CHECK(false, "not a binary vector operation");
  }
}

}  // namespace aoe::compiler::loopnest
