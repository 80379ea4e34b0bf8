// What makes nodes of expressions, and what their operands have to have in common.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "base/check.h"
#include "compiler/loopnest/loopnest.h"

namespace aoe::compiler::loopnest {

inline Expr expr_of(ExprNode node) {
  return std::make_shared<const ExprNode>(std::move(node));
}

const char* name(Type type);
bool is_real(Type type);

/// Of computations that only lanes of 32 and 64 bits have.
inline void check_wide(const Expr& a) {
  AOE_CHECK(a->type == Type::kMask || !is_narrow(a->type),
            std::string("arithmetic on lanes of ") + name(a->type));
}

inline void check_same(const Expr& a, const Expr& b) {
  AOE_CHECK(a->type == b->type, "operands of two types");
  AOE_CHECK(a->lanes == b->lanes, "operands of " + std::to_string(a->lanes) + " and " +
                                      std::to_string(b->lanes) + " lanes");
}

inline Vec ternary(Op op, const Vec& a, const Vec& b, const Vec& c) {
  check_same(a.e, b.e);
  check_same(b.e, c.e);
  return Vec(expr_of({.op = op, .type = a.type(), .lanes = a.lanes(), .args = {a.e, b.e, c.e}}));
}

}  // namespace aoe::compiler::loopnest
