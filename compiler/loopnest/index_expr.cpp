// Indices and conditions of the loop-nest language: constants fold and sums are normalised while they
// are built.
//
// An index is kept as `base + constant` with the constant outermost, so that unrolled bodies share
// one base and address their elements by displacement.
#include <utility>

#include "compiler/loopnest/expr_node.h"

namespace aoe::compiler::loopnest {
namespace {

Expr int_node(Op op, const Int& a, const Int& b) {
  return expr_of({.op = op, .type = Type::kInt, .args = {a.e, b.e}});
}

/// An index as base + offset; base is null when the index is a constant.
struct Affine {
  Expr base;
  std::int64_t offset = 0;
};

Affine split(const Int& a) {
  if (a.e->op == Op::kIntConst) return {nullptr, a.e->ivalue};
  if (a.e->op == Op::kIntAdd && a.e->args[1]->op == Op::kIntConst) {
    return {a.e->args[0], a.e->args[1]->ivalue};
  }
  return {a.e, 0};
}

Int join(const Expr& base, std::int64_t offset) {
  if (!base) return offset;
  if (offset == 0) return Int(base);
  return Int(int_node(Op::kIntAdd, Int(base), Int(offset)));
}

/// The factor c of an expression y * c, else 0.
std::int64_t constant_factor(const Expr& e) {
  return e && e->op == Op::kIntMul && e->args[1]->op == Op::kIntConst ? e->args[1]->ivalue : 0;
}

/// -1, 0, +1 when the order of a and b is known at build time.
std::optional<int> known_order(const Int& a, const Int& b) {
  const Affine x = split(a), y = split(b);
  if (x.base != y.base) return {};
  return x.offset < y.offset ? -1 : x.offset > y.offset ? 1 : 0;
}

Bool bool_constant(bool value) {
  return Bool(expr_of({.op = Op::kIntConst, .type = Type::kBool, .ivalue = value}));
}

Bool compare(Op op, const Int& a, const Int& b) {
  return Bool(expr_of({.op = op, .type = Type::kBool, .args = {a.e, b.e}}));
}

}  // namespace

// ---- indices ----

Int::Int(std::int64_t value)
    : e(expr_of({.op = Op::kIntConst, .type = Type::kInt, .ivalue = value})) {
}

std::optional<std::int64_t> Int::constant() const {
  if (e->op == Op::kIntConst) return e->ivalue;
  return {};
}

Int operator+(Int a, Int b) {
  const Affine x = split(a), y = split(b);
  if (!x.base || !y.base) return join(x.base ? x.base : y.base, x.offset + y.offset);
  return join(int_node(Op::kIntAdd, Int(x.base), Int(y.base)), x.offset + y.offset);
}

Int operator-(Int a, Int b) {
  const Affine x = split(a), y = split(b);
  if (x.base == y.base) return x.offset - y.offset;
  if (!y.base) return join(x.base, x.offset - y.offset);
  const Int base = x.base ? Int(x.base) : Int(0);
  return join(int_node(Op::kIntSub, base, Int(y.base)), x.offset - y.offset);
}

Int operator*(Int a, Int b) {
  if (a.constant()) std::swap(a, b);
  const auto factor = b.constant();
  if (!factor) return Int(int_node(Op::kIntMul, a, b));
  const Affine x = split(a);
  if (!x.base || *factor == 0) return x.offset * *factor;
  if (*factor == 1) return a;
  if (const std::int64_t inner = constant_factor(x.base)) {
    return join((Int(x.base->args[0]) * Int(inner * *factor)).e, x.offset * *factor);
  }
  return join(int_node(Op::kIntMul, Int(x.base), b), x.offset * *factor);
}

Int operator/(Int a, Int b) {
  const auto divisor = b.constant();
  AOE_CHECK(!divisor || *divisor > 0, "division by " + std::to_string(*divisor));
  if (!divisor) return Int(int_node(Op::kIntDiv, a, b));
  if (*divisor == 1) return a;
  const Affine x = split(a);
  if (!x.base && x.offset >= 0) return x.offset / *divisor;
  const std::int64_t factor = constant_factor(x.base);
  if (factor != 0 && factor % *divisor == 0 && x.offset >= 0) {  // (y * kd + r) / d = y * k + r / d
    return Int(x.base->args[0]) * Int(factor / *divisor) + Int(x.offset / *divisor);
  }
  return Int(int_node(Op::kIntDiv, a, b));
}

Int operator%(Int a, Int b) {
  const auto divisor = b.constant();
  AOE_CHECK(!divisor || *divisor > 0, "modulo " + std::to_string(*divisor));
  if (!divisor) return Int(int_node(Op::kIntMod, a, b));
  const Affine x = split(a);
  const bool base_vanishes = !x.base || constant_factor(x.base) % *divisor == 0;
  const bool has_factor = !x.base || constant_factor(x.base) != 0;
  if (*divisor == 1) return 0;
  if (base_vanishes && has_factor && x.offset >= 0) return x.offset % *divisor;
  return Int(int_node(Op::kIntMod, a, b));
}

Int min(Int a, Int b) {
  if (const auto order = known_order(a, b)) return *order <= 0 ? a : b;
  return Int(int_node(Op::kIntMin, a, b));
}

Int max(Int a, Int b) {
  if (const auto order = known_order(a, b)) return *order >= 0 ? a : b;
  return Int(int_node(Op::kIntMax, a, b));
}

// ---- conditions ----

std::optional<bool> Bool::constant() const {
  if (e->op == Op::kIntConst) return e->ivalue != 0;
  return {};
}

Bool operator<(Int a, Int b) {
  if (const auto order = known_order(a, b)) return bool_constant(*order < 0);
  return compare(Op::kLess, a, b);
}

Bool operator<=(Int a, Int b) {
  if (const auto order = known_order(a, b)) return bool_constant(*order <= 0);
  return compare(Op::kLessEqual, a, b);
}

Bool operator==(Int a, Int b) {
  if (const auto order = known_order(a, b)) return bool_constant(*order == 0);
  return compare(Op::kEqual, a, b);
}

Bool operator!=(Int a, Int b) {
  if (const auto order = known_order(a, b)) return bool_constant(*order != 0);
  return compare(Op::kNotEqual, a, b);
}

Bool operator&&(Bool a, Bool b) {
  if (a.constant()) return *a.constant() ? b : a;
  if (b.constant()) return *b.constant() ? a : b;
  return Bool(expr_of({.op = Op::kAnd, .type = Type::kBool, .args = {a.e, b.e}}));
}

Bool operator||(Bool a, Bool b) {
  if (a.constant()) return *a.constant() ? a : b;
  if (b.constant()) return *b.constant() ? b : a;
  return Bool(expr_of({.op = Op::kOr, .type = Type::kBool, .args = {a.e, b.e}}));
}

Bool operator!(Bool a) {
  if (a.constant()) return bool_constant(!*a.constant());
  return Bool(expr_of({.op = Op::kNot, .type = Type::kBool, .args = {a.e}}));
}

}  // namespace aoe::compiler::loopnest
