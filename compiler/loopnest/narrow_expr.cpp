// Vectors whose lanes hold several narrow numbers: pairs of bfloat16 or float16, four bytes.
#include "compiler/loopnest/expr_node.h"

namespace aoe::compiler::loopnest {
namespace {

Vec half_of(Op op, const Vec& pairs) {
  return Vec(expr_of({.op = op, .type = Type::kFloat, .lanes = pairs.lanes(), .args = {pairs.e}}));
}

}  // namespace

Vec pack_bf16(Vec low, Vec high) {
  check_same(low.e, high.e);
  return Vec(expr_of(
      {.op = Op::kPackBf16, .type = Type::kInt32, .lanes = low.lanes(), .args = {low.e, high.e}}));
}

Vec dot_bf16(Vec a, Vec b, Vec sum) {
  check_same(a.e, b.e);
  AOE_CHECK(a.lanes() == sum.lanes(), "a sum of other lanes");
  return Vec(expr_of(
      {.op = Op::kDotBf16, .type = Type::kFloat, .lanes = sum.lanes(), .args = {a.e, b.e, sum.e}}));
}

Vec pair_f16(Vec a) {
  return Vec(
      expr_of({.op = Op::kPairF16, .type = Type::kInt32, .lanes = a.lanes(), .args = {a.e}}));
}

Vec fma_f16(Vec a, Vec b, Vec sum) {
  return ternary(Op::kFmaF16, a, b, sum);
}

Vec low_f16(Vec pairs) {
  return half_of(Op::kLowF16, pairs);
}

Vec high_f16(Vec pairs) {
  return half_of(Op::kHighF16, pairs);
}

Vec quad_splat(std::uint32_t quad, int lanes) {
  return int_splat(static_cast<std::int32_t>(quad), lanes, Type::kInt32);
}

Vec flip_signs(Vec quads) {
  return bit_xor(quads, quad_splat(0x80808080u, quads.lanes()));
}

Vec dot_u8s8(Vec a, Vec b, Vec sum) {
  return ternary(Op::kDotU8S8, a, b, sum);
}

Vec dot_i16(Vec a, Vec b, Vec sum) {
  return ternary(Op::kDotI16, a, b, sum);
}

Vec round_to_byte(Vec a, int zero) {
  AOE_CHECK(a.type() == Type::kFloat && zero >= 0 && zero <= 255, "round_to_byte()");
  return Vec(expr_of({.op = Op::kRoundToByte,
                      .type = Type::kInt32,
                      .lanes = a.lanes(),
                      .args = {a.e},
                      .ivalue = zero}));
}

}  // namespace aoe::compiler::loopnest
