#include "compiler/loopnest/index_values.h"

#include <llvm/IR/Intrinsics.h>

#include "base/check.h"

namespace aoe::compiler::loopnest {

using llvm::Value;

Memory::Place IndexValues::place(int buffer, const Expr& e) {
  if (e->op == Op::kIntConst) return {buffer, nullptr, e->ivalue};
  if (e->op == Op::kIntAdd && e->args[1]->op == Op::kIntConst) {
    return {buffer, value(e->args[0]), e->args[1]->ivalue};
  }
  return {buffer, value(e), 0};
}

Value* IndexValues::value(const Expr& e) {
  if (e->op == Op::kIntConst) return ir_.getInt64(static_cast<std::uint64_t>(e->ivalue));
  if (e->op == Op::kVar) return variables_.at(e->id);
  if (const auto known = values_.find(e.get()); known != values_.end()) return known->second;
  Value* made = make(*e);
  values_[e.get()] = made;
  order_.push_back(e.get());
  return made;
}

Value* IndexValues::make(const ExprNode& e) {
  if (e.op == Op::kIntLoad) return memory_.load_int(place(e.id, e.args[0]));
  Value* a = value(e.args[0]);
  Value* b = value(e.args[1]);
  switch (e.op) {
    case Op::kIntAdd:
      return ir_.CreateNSWAdd(a, b);
    case Op::kIntSub:
      return ir_.CreateNSWSub(a, b);
    case Op::kIntMul:
      return ir_.CreateNSWMul(a, b);
    case Op::kIntDiv:
      return ir_.CreateUDiv(a, b);
    case Op::kIntMod:
      return ir_.CreateURem(a, b);
    case Op::kIntMin:
      return ir_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, a, b);
    case Op::kIntMax:
      return ir_.CreateBinaryIntrinsic(llvm::Intrinsic::smax, a, b);
    default:
      AOE_CHECK(false, "not an index expression");
  }
}

Value* IndexValues::condition(const Expr& e) {
  switch (e->op) {
    case Op::kIntConst:
      return ir_.getInt1(e->ivalue != 0);
    case Op::kAnd:
      return ir_.CreateAnd(condition(e->args[0]), condition(e->args[1]));
    case Op::kOr:
      return ir_.CreateOr(condition(e->args[0]), condition(e->args[1]));
    case Op::kNot:
      return ir_.CreateNot(condition(e->args[0]));
    case Op::kLess:
      return ir_.CreateICmpSLT(value(e->args[0]), value(e->args[1]));
    case Op::kLessEqual:
      return ir_.CreateICmpSLE(value(e->args[0]), value(e->args[1]));
    case Op::kEqual:
      return ir_.CreateICmpEQ(value(e->args[0]), value(e->args[1]));
    case Op::kNotEqual:
      return ir_.CreateICmpNE(value(e->args[0]), value(e->args[1]));
    default:
      AOE_CHECK(false, "not a condition");
  }
}

void IndexValues::forget_since(std::size_t mark) {
  while (order_.size() > mark) {
    values_.erase(order_.back());
    order_.pop_back();
  }
}

}  // namespace aoe::compiler::loopnest
