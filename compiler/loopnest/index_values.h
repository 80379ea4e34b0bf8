// IndexValues: index expressions and conditions of a function that is being lowered. Internal to codegen.
#pragma once

#include <unordered_map>
#include <vector>

#include "compiler/loopnest/loopnest.h"
#include "compiler/loopnest/memory.h"

namespace aoe::compiler::loopnest {

class IndexValues {
 public:
  IndexValues(IrBuilder& ir, Memory& memory) : ir_(ir), memory_(memory) {}

  void set_variable(int variable, llvm::Value* value) { variables_[variable] = value; }

  /// Made once, where it is first asked for.
  llvm::Value* value(const Expr& e);
  llvm::Value* condition(const Expr& e);
  Memory::Place place(int buffer, const Expr& e);

  /// What was made since, in blocks that do not dominate what follows, is forgotten.
  std::size_t mark() const { return order_.size(); }
  void forget_since(std::size_t mark);

 private:
  llvm::Value* make(const ExprNode& e);

  IrBuilder& ir_;
  Memory& memory_;
  std::unordered_map<int, llvm::Value*> variables_;
  std::unordered_map<const ExprNode*, llvm::Value*> values_;
  std::vector<const ExprNode*> order_;  ///< in which they were made
};

}  // namespace aoe::compiler::loopnest
