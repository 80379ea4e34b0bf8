// Narrow lanes, and what makes other lanes of them: conversions, dot products, the bits as they are.
#include "compiler/loopnest/expr_node.h"

namespace aoe::compiler::loopnest {

Vec bits_as(Vec a, Type to) {
  if (a.type() == to) return a;
  const int bits = a.lanes() * bits_of(a.type());
  AOE_CHECK(bits % bits_of(to) == 0, std::to_string(a.lanes()) + " lanes of " + name(a.type()) +
                                         " are no lanes of " + name(to));
  if (a.e->op == Op::kBitsAs) return bits_as(Vec(a.e->args[0]), to);
  return Vec(expr_of({.op = Op::kBitsAs, .type = to, .lanes = bits / bits_of(to), .args = {a.e}}));
}

Vec dot(Vec a, Vec b, Vec sum) {
  const auto are = [&](Type left, Type right, Type sums) {
    return a.type() == left && b.type() == right && sum.type() == sums;
  };
  AOE_CHECK(are(Type::kBfloat16, Type::kBfloat16, Type::kFloat) ||
                are(Type::kInt16, Type::kInt16, Type::kInt32) ||
                are(Type::kUint8, Type::kInt8, Type::kInt32),
            std::string("dot() of ") + name(a.type()) + " and " + name(b.type()) + " into " +
                name(sum.type()));
  AOE_CHECK(a.lanes() == b.lanes() && a.lanes() == sum.lanes() * per_word(a.type()),
            "dot() of " + std::to_string(a.lanes()) + " and " + std::to_string(b.lanes()) +
                " lanes into " + std::to_string(sum.lanes()));
  return Vec(expr_of(
      {.op = Op::kDot, .type = sum.type(), .lanes = sum.lanes(), .args = {a.e, b.e, sum.e}}));
}

Vec convert(Vec a, Type to, bool is_signed) {
  if (a.type() == to) return a;
  if (is_narrow(a.type()) || is_narrow(to)) {
    const Type narrow = is_narrow(to) ? to : a.type(), other = is_narrow(to) ? a.type() : to;
    AOE_CHECK(other == (is_real(narrow) ? Type::kFloat : Type::kInt32),
              std::string("conversion of ") + name(a.type()) + " to " + name(to));
  }
  const bool is_unsigned = !is_signed || a.type() == Type::kUint8;
  return Vec(expr_of({.op = is_unsigned ? Op::kConvertUnsigned : Op::kConvert,
                      .type = to,
                      .lanes = a.lanes(),
                      .args = {a.e}}));
}

Vec convert(Vec low, Vec high, Type to) {
  check_same(low.e, high.e);
  AOE_CHECK(low.type() == Type::kFloat && to == Type::kBfloat16,
            std::string("conversion of two vectors of ") + name(low.type()) + " to " + name(to));
  return Vec(
      expr_of({.op = Op::kConvert, .type = to, .lanes = 2 * low.lanes(), .args = {low.e, high.e}}));
}

Vec round_to_byte(Vec a, int zero) {
  AOE_CHECK(a.type() == Type::kFloat && zero >= 0 && zero <= 255, "round_to_byte()");
  return Vec(expr_of({.op = Op::kRoundToByte,
                      .type = Type::kUint8,
                      .lanes = a.lanes(),
                      .args = {a.e},
                      .ivalue = zero}));
}

}  // namespace aoe::compiler::loopnest
