// Vectors and masks of the loop-nest language: constants fold while they are built.
#include <cmath>
#include <utility>

#include "compiler/loopnest/expr_node.h"

namespace aoe::compiler::loopnest {
namespace {

bool is_float_constant(const Vec& a) {
  return a.e->op == Op::kFloatConst;
}

/// Not where the numbers are rounded to float32 while they are folded.
bool are_float32_constants(const Vec& a, const Vec& b) {
  return is_float_constant(a) && is_float_constant(b) && a.type() == Type::kFloat;
}

Vec unary(Op op, const Vec& a) {
  check_wide(a.e);
  return Vec(expr_of({.op = op, .type = a.type(), .lanes = a.lanes(), .args = {a.e}}));
}

template <typename Fold>
Vec binary(Op op, const Vec& a, const Vec& b, Fold fold) {
  check_same(a.e, b.e);
  check_wide(a.e);
  if (are_float32_constants(a, b)) {
    return splat(fold(static_cast<float>(a.e->fvalue), static_cast<float>(b.e->fvalue)), a.lanes());
  }
  return Vec(expr_of({.op = op, .type = a.type(), .lanes = a.lanes(), .args = {a.e, b.e}}));
}

Vec reduction(Op op, const Vec& a) {
  check_wide(a.e);
  if (a.lanes() == 1) return a;
  return Vec(expr_of({.op = op, .type = a.type(), .lanes = 1, .args = {a.e}}));
}

Vec permutation(std::vector<Expr> sources, std::vector<int> from) {
  const int lanes = sources[0]->lanes, all = lanes * static_cast<int>(sources.size());
  AOE_CHECK(static_cast<int>(from.size()) == lanes,
            std::to_string(from.size()) + " places for " + std::to_string(lanes) + " lanes");
  for (const int place : from)
    AOE_CHECK(place >= 0 && place < all,
              "lane " + std::to_string(place) + " of " + std::to_string(all) + " in a permutation");
  if (lanes == 1) return Vec(sources[static_cast<std::size_t>(from[0])]);
  return Vec(expr_of({.op = Op::kPermute,
                      .type = sources[0]->type,
                      .lanes = lanes,
                      .args = std::move(sources),
                      .from = std::move(from)}));
}

Vec of_bits(Op op, const Vec& a, const Vec& b) {
  check_same(a.e, b.e);
  return Vec(expr_of({.op = op, .type = a.type(), .lanes = a.lanes(), .args = {a.e, b.e}}));
}

Vec of_two(Op op, const Vec& a, const Vec& b) {
  check_wide(a.e);
  return of_bits(op, a, b);
}

Mask of_masks(Op op, const Mask& a, const Mask& b) {
  check_same(a.e, b.e);
  return Mask(expr_of({.op = op, .type = Type::kMask, .lanes = a.e->lanes, .args = {a.e, b.e}}));
}

Mask compare_lanes(Op op, const Vec& a, const Vec& b) {
  check_same(a.e, b.e);
  check_wide(a.e);
  return Mask(expr_of({.op = op, .type = Type::kMask, .lanes = a.lanes(), .args = {a.e, b.e}}));
}

float nan_min(float a, float b) {
  return std::isnan(a) || b > a ? a : b;
}
float nan_max(float a, float b) {
  return std::isnan(a) || b < a ? a : b;
}

}  // namespace

// ---- vectors of real numbers, and what integers have as well ----

Vec splat(float value, int lanes) {
  return Vec(
      expr_of({.op = Op::kFloatConst, .type = Type::kFloat, .lanes = lanes, .fvalue = value}));
}

Vec splat(double value, int lanes, Type type) {
  if (!is_real(type)) return int_splat(static_cast<std::int64_t>(value), lanes, type);
  if (type == Type::kFloat) return splat(static_cast<float>(value), lanes);
  return Vec(expr_of({.op = Op::kFloatConst, .type = type, .lanes = lanes, .fvalue = value}));
}

Vec operator+(Vec a, Vec b) {
  return binary(Op::kAdd, a, b, [](float x, float y) { return x + y; });
}

Vec operator-(Vec a, Vec b) {
  return binary(Op::kSub, a, b, [](float x, float y) { return x - y; });
}

Vec operator*(Vec a, Vec b) {
  if (is_float_constant(b) && b.e->fvalue == 1.0f && a.lanes() == b.lanes()) return a;
  if (is_float_constant(a) && a.e->fvalue == 1.0f && a.lanes() == b.lanes()) return b;
  return binary(Op::kMul, a, b, [](float x, float y) { return x * y; });
}

Vec operator/(Vec a, Vec b) {
  if (is_float_constant(b) && b.e->fvalue == 1.0f && a.lanes() == b.lanes()) return a;
  return binary(Op::kDiv, a, b, [](float x, float y) { return x / y; });
}

Vec operator-(Vec a) {
  return is_float_constant(a) ? splat(-a.e->fvalue, a.lanes(), a.type()) : unary(Op::kNeg, a);
}

Vec min(Vec a, Vec b) {
  return binary(Op::kMin, a, b, nan_min);
}

Vec max(Vec a, Vec b) {
  return binary(Op::kMax, a, b, nan_max);
}

Vec max(Vec a, Vec b, Vec c) {
  check_same(a.e, b.e);
  check_same(b.e, c.e);
  check_wide(a.e);
  return Vec(expr_of(
      {.op = Op::kMax3, .type = Type::kFloat, .lanes = a.lanes(), .args = {a.e, b.e, c.e}}));
}

Vec fma(Vec a, Vec b, Vec c) {
  if (!is_real(a.type())) return a * b + c;
  if (a.type() != Type::kFloat16) check_wide(a.e);
  return ternary(Op::kFma, a, b, c);
}

Vec abs(Vec a) {
  return unary(Op::kAbs, a);
}
#define REAL_FUNCTION(op, function) \
  Vec function(Vec a) {             \
    return unary(Op::op, a);        \
  }
#include "base/real_functions.inc"
#undef REAL_FUNCTION
Vec sigmoid(Vec a) {
  return unary(Op::kSigmoid, a);
}
Vec log1p(Vec a) {
  const auto number = [&](double value) { return splat(value, a.lanes(), a.type()); };
  const Vec one = number(1), small = min(max(a, number(-0.5)), one);
  const Vec lost = small - ((one + small) - one);  // in rounding; nothing of -0.5 and 1
  return log(one + a) + lost;
}
Vec fmod(Vec a, Vec b) {
  return of_two(Op::kFmod, a, b);
}
Vec pow(Vec base, Vec exponent) {
  return of_two(Op::kPow, base, exponent);
}
Vec floor(Vec a) {
  return unary(Op::kFloor, a);
}
Vec round_even(Vec a) {
  return unary(Op::kRoundEven, a);
}
Vec round_to(Vec a, DataType dtype) {
  return Vec(expr_of({.op = Op::kRoundTo,
                      .type = Type::kFloat,
                      .lanes = a.lanes(),
                      .args = {a.e},
                      .ivalue = static_cast<std::int64_t>(dtype)}));
}
Vec reduce_add(Vec a) {
  return reduction(Op::kReduceAdd, a);
}
Vec reduce_max(Vec a) {
  return reduction(Op::kReduceMax, a);
}
Vec reduce_min(Vec a) {
  return reduction(Op::kReduceMin, a);
}

Vec broadcast(Vec a, int lanes) {
  AOE_CHECK(a.lanes() == 1 || a.lanes() == per_word(a.type()),
            "broadcast of " + std::to_string(a.lanes()) + " lanes of " + name(a.type()));
  AOE_CHECK(lanes % a.lanes() == 0, "broadcast to a part of a word");
  if (lanes == a.lanes()) return a;
  if (is_float_constant(a)) return splat(a.e->fvalue, lanes, a.type());
  return Vec(expr_of({.op = Op::kBroadcast, .type = a.type(), .lanes = lanes, .args = {a.e}}));
}

Vec to_float(Int value) {
  return to_lane(value, Type::kFloat);
}

Vec to_lane(Int value, Type type) {
  if (value.constant() && is_real(type))
    return splat(static_cast<double>(*value.constant()), 1, type);
  if (value.constant()) return int_splat(*value.constant(), 1, type);
  return Vec(expr_of({.op = Op::kIntToLane, .type = type, .lanes = 1, .args = {value.e}}));
}

Vec transpose_row(const std::vector<Vec>& rows, int row) {
  const int n = static_cast<int>(rows.size());
  AOE_CHECK(n > 0 && row >= 0 && row < n,
            "row " + std::to_string(row) + " of a transpose of " + std::to_string(n) + " rows");
  std::vector<Expr> args;
  for (const Vec& v : rows) {
    AOE_CHECK(v.lanes() == n, "a transpose of " + std::to_string(n) + " rows of " +
                                  std::to_string(v.lanes()) + " lanes");
    args.push_back(v.e);
  }
  return Vec(expr_of({.op = Op::kTransposeRow,
                      .type = rows[0].type(),
                      .lanes = n,
                      .args = std::move(args),
                      .ivalue = row}));
}

Vec interleave(const std::vector<Vec>& rows, int part) {
  const int n = static_cast<int>(rows.size());
  AOE_CHECK(n > 0 && part >= 0 && part < n,
            "vector " + std::to_string(part) + " of " + std::to_string(n) + " interleaved");
  std::vector<Expr> args;
  for (const Vec& v : rows) {
    AOE_CHECK(v.lanes() == rows[0].lanes(), "vectors of " + std::to_string(v.lanes()) + " and " +
                                                std::to_string(rows[0].lanes()) +
                                                " lanes interleaved");
    args.push_back(v.e);
  }
  return Vec(expr_of({.op = Op::kInterleave,
                      .type = rows[0].type(),
                      .lanes = rows[0].lanes(),
                      .args = std::move(args),
                      .ivalue = part}));
}

Vec permute(Vec a, std::vector<int> from) {
  return permutation({a.e}, std::move(from));
}

Vec permute(Vec a, Vec b, std::vector<int> from) {
  check_same(a.e, b.e);
  return permutation({a.e, b.e}, std::move(from));
}

Vec pick(Vec places, Vec a, Vec b) {
  AOE_CHECK(places.type() == Type::kInt32, "pick() by lanes that are not int32");
  AOE_CHECK(a.type() == Type::kInt32 || a.type() == Type::kFloat, "pick() of lanes of 8 bytes");
  check_same(a.e, b.e);
  AOE_CHECK(places.lanes() == a.lanes(), "pick() of vectors of another length");
  return Vec(expr_of(
      {.op = Op::kPick, .type = a.type(), .lanes = a.lanes(), .args = {places.e, a.e, b.e}}));
}

// ---- integer vectors ----

Vec int_splat(std::int64_t value, int lanes, Type type) {
  if (is_narrow(type)) {
    const std::int64_t least = type == Type::kUint8 ? 0 : -(std::int64_t{1} << (bits_of(type) - 1));
    AOE_CHECK(value >= least && value < least + (std::int64_t{1} << bits_of(type)),
              std::to_string(value) + " in lanes of " + name(type));
  }
  return Vec(expr_of({.op = Op::kIntSplat, .type = type, .lanes = lanes, .ivalue = value}));
}
Vec int_divide(Vec a, Vec b, bool is_signed) {
  return of_two(is_signed ? Op::kDiv : Op::kUnsignedDiv, a, b);
}
Vec shift_left(Vec a, Vec distance) {
  return of_two(Op::kShiftLeft, a, distance);
}
Vec shift_right(Vec a, Vec distance) {
  return of_two(Op::kShiftRight, a, distance);
}
Vec bit_and(Vec a, Vec b) {
  return of_bits(Op::kBitAnd, a, b);
}
Vec bit_or(Vec a, Vec b) {
  return of_bits(Op::kBitOr, a, b);
}
Vec bit_xor(Vec a, Vec b) {
  return of_bits(Op::kBitXor, a, b);
}

// ---- masks ----

Mask operator<(Vec a, Vec b) {
  return compare_lanes(Op::kFloatLess, a, b);
}
Mask operator<=(Vec a, Vec b) {
  return compare_lanes(Op::kFloatLessEqual, a, b);
}
Mask operator==(Vec a, Vec b) {
  return compare_lanes(Op::kFloatEqual, a, b);
}

Mask active_lanes(Int count, int lanes) {
  return Mask(
      expr_of({.op = Op::kActiveLanes, .type = Type::kMask, .lanes = lanes, .args = {count.e}}));
}

Mask operator&(Mask a, Mask b) {
  return of_masks(Op::kBitAnd, a, b);
}
Mask operator|(Mask a, Mask b) {
  return of_masks(Op::kBitOr, a, b);
}
Mask operator^(Mask a, Mask b) {
  return of_masks(Op::kBitXor, a, b);
}
Mask operator!(Mask a) {
  return Mask(
      expr_of({.op = Op::kMaskNot, .type = Type::kMask, .lanes = a.e->lanes, .args = {a.e}}));
}

Vec select(Mask mask, Vec if_on, Vec if_off) {
  AOE_CHECK(mask.e->lanes == if_on.lanes(), "a mask of other lanes");
  check_same(if_on.e, if_off.e);
  check_wide(if_on.e);
  return Vec(expr_of({.op = Op::kSelect,
                      .type = if_on.type(),
                      .lanes = if_on.lanes(),
                      .args = {mask.e, if_on.e, if_off.e}}));
}

}  // namespace aoe::compiler::loopnest
