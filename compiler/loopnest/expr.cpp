// Expressions of the loop-nest language: constants fold and index sums are normalised while they
// are built.
//
// An index is kept as `base + constant` with the constant outermost, so that unrolled bodies share
// one base and address their elements by displacement.
#include <cmath>
#include <utility>

#include "base/check.h"
#include "compiler/loopnest/loopnest.h"

namespace aoe::compiler::loopnest {
namespace {

Expr make(ExprNode node) {
  return std::make_shared<const ExprNode>(std::move(node));
}

Expr int_node(Op op, const Int& a, const Int& b) {
  return make({.op = op, .type = Type::kInt, .args = {a.e, b.e}});
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
  return Bool(make({.op = Op::kIntConst, .type = Type::kBool, .ivalue = value}));
}

Bool compare(Op op, const Int& a, const Int& b) {
  return Bool(make({.op = op, .type = Type::kBool, .args = {a.e, b.e}}));
}

bool is_real(Type type) {
  return type == Type::kFloat || type == Type::kDouble;
}

bool is_float_constant(const Vec& a) {
  return a.e->op == Op::kFloatConst;
}

/// Not where the numbers are rounded to float32 while they are folded.
bool are_float32_constants(const Vec& a, const Vec& b) {
  return is_float_constant(a) && is_float_constant(b) && a.type() == Type::kFloat;
}

Vec unary(Op op, const Vec& a) {
  return Vec(make({.op = op, .type = a.type(), .lanes = a.lanes(), .args = {a.e}}));
}

void check_same(const Expr& a, const Expr& b) {
  AOE_CHECK(a->type == b->type, "operands of two types");
  AOE_CHECK(a->lanes == b->lanes, "operands of " + std::to_string(a->lanes) + " and " +
                                      std::to_string(b->lanes) + " lanes");
}

Vec ternary(Op op, const Vec& a, const Vec& b, const Vec& c) {
  check_same(a.e, b.e);
  check_same(b.e, c.e);
  return Vec(make({.op = op, .type = a.type(), .lanes = a.lanes(), .args = {a.e, b.e, c.e}}));
}

template <typename Fold>
Vec binary(Op op, const Vec& a, const Vec& b, Fold fold) {
  check_same(a.e, b.e);
  if (are_float32_constants(a, b)) {
    return splat(fold(static_cast<float>(a.e->fvalue), static_cast<float>(b.e->fvalue)), a.lanes());
  }
  return Vec(make({.op = op, .type = a.type(), .lanes = a.lanes(), .args = {a.e, b.e}}));
}

Vec reduction(Op op, const Vec& a) {
  if (a.lanes() == 1) return a;
  return Vec(make({.op = op, .type = a.type(), .lanes = 1, .args = {a.e}}));
}

Vec permutation(std::vector<Expr> sources, std::vector<int> from) {
  const int lanes = sources[0]->lanes, all = lanes * static_cast<int>(sources.size());
  AOE_CHECK(static_cast<int>(from.size()) == lanes,
            std::to_string(from.size()) + " places for " + std::to_string(lanes) + " lanes");
  for (const int place : from)
    AOE_CHECK(place >= 0 && place < all,
              "lane " + std::to_string(place) + " of " + std::to_string(all) + " in a permutation");
  if (lanes == 1) return Vec(sources[static_cast<std::size_t>(from[0])]);
  return Vec(make({.op = Op::kPermute,
                   .type = sources[0]->type,
                   .lanes = lanes,
                   .args = std::move(sources),
                   .from = std::move(from)}));
}

Vec of_two(Op op, const Vec& a, const Vec& b) {
  check_same(a.e, b.e);
  return Vec(make({.op = op, .type = a.type(), .lanes = a.lanes(), .args = {a.e, b.e}}));
}

Mask of_masks(Op op, const Mask& a, const Mask& b) {
  check_same(a.e, b.e);
  return Mask(make({.op = op, .type = Type::kMask, .lanes = a.e->lanes, .args = {a.e, b.e}}));
}

Mask compare_lanes(Op op, const Vec& a, const Vec& b) {
  check_same(a.e, b.e);
  return Mask(make({.op = op, .type = Type::kMask, .lanes = a.lanes(), .args = {a.e, b.e}}));
}

float nan_min(float a, float b) {
  return std::isnan(a) || b > a ? a : b;
}
float nan_max(float a, float b) {
  return std::isnan(a) || b < a ? a : b;
}

}  // namespace

// ---- indices ----

Int::Int(std::int64_t value) : e(make({.op = Op::kIntConst, .type = Type::kInt, .ivalue = value})) {
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
  return Bool(make({.op = Op::kAnd, .type = Type::kBool, .args = {a.e, b.e}}));
}

Bool operator||(Bool a, Bool b) {
  if (a.constant()) return *a.constant() ? a : b;
  if (b.constant()) return *b.constant() ? b : a;
  return Bool(make({.op = Op::kOr, .type = Type::kBool, .args = {a.e, b.e}}));
}

Bool operator!(Bool a) {
  if (a.constant()) return bool_constant(!*a.constant());
  return Bool(make({.op = Op::kNot, .type = Type::kBool, .args = {a.e}}));
}

// ---- vectors of real numbers, and what integers have as well ----

Vec splat(float value, int lanes) {
  return Vec(make({.op = Op::kFloatConst, .type = Type::kFloat, .lanes = lanes, .fvalue = value}));
}

Vec splat(double value, int lanes, Type type) {
  if (!is_real(type)) return int_splat(static_cast<std::int64_t>(value), lanes, type);
  if (type == Type::kFloat) return splat(static_cast<float>(value), lanes);
  return Vec(make({.op = Op::kFloatConst, .type = type, .lanes = lanes, .fvalue = value}));
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
  return Vec(
      make({.op = Op::kMax3, .type = Type::kFloat, .lanes = a.lanes(), .args = {a.e, b.e, c.e}}));
}

Vec fma(Vec a, Vec b, Vec c) {
  if (!is_real(a.type())) return a * b + c;
  return ternary(Op::kFma, a, b, c);
}

Vec abs(Vec a) {
  return unary(Op::kAbs, a);
}
Vec sqrt(Vec a) {
  return unary(Op::kSqrt, a);
}
Vec exp(Vec a) {
  return unary(Op::kExp, a);
}
Vec log(Vec a) {
  return unary(Op::kLog, a);
}
Vec tanh(Vec a) {
  return unary(Op::kTanh, a);
}
Vec erf(Vec a) {
  return unary(Op::kErf, a);
}
Vec sin(Vec a) {
  return unary(Op::kSin, a);
}
Vec cos(Vec a) {
  return unary(Op::kCos, a);
}
Vec tan(Vec a) {
  return unary(Op::kTan, a);
}
Vec asin(Vec a) {
  return unary(Op::kAsin, a);
}
Vec acos(Vec a) {
  return unary(Op::kAcos, a);
}
Vec atan(Vec a) {
  return unary(Op::kAtan, a);
}
Vec sinh(Vec a) {
  return unary(Op::kSinh, a);
}
Vec cosh(Vec a) {
  return unary(Op::kCosh, a);
}
Vec asinh(Vec a) {
  return unary(Op::kAsinh, a);
}
Vec acosh(Vec a) {
  return unary(Op::kAcosh, a);
}
Vec atanh(Vec a) {
  return unary(Op::kAtanh, a);
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
  return Vec(make({.op = Op::kRoundTo,
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

Vec broadcast(Vec scalar, int lanes) {
  AOE_CHECK(scalar.lanes() == 1, "broadcast of " + std::to_string(scalar.lanes()) + " lanes");
  if (lanes == 1) return scalar;
  if (is_float_constant(scalar)) return splat(scalar.e->fvalue, lanes, scalar.type());
  return Vec(
      make({.op = Op::kBroadcast, .type = scalar.type(), .lanes = lanes, .args = {scalar.e}}));
}

Vec to_float(Int value) {
  return to_lane(value, Type::kFloat);
}

Vec to_lane(Int value, Type type) {
  if (value.constant() && is_real(type))
    return splat(static_cast<double>(*value.constant()), 1, type);
  if (value.constant()) return int_splat(*value.constant(), 1, type);
  return Vec(make({.op = Op::kIntToLane, .type = type, .lanes = 1, .args = {value.e}}));
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
  return Vec(make({.op = Op::kTransposeRow,
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
  return Vec(make({.op = Op::kInterleave,
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

Vec pack_bf16(Vec low, Vec high) {
  check_same(low.e, high.e);
  return Vec(make(
      {.op = Op::kPackBf16, .type = Type::kInt32, .lanes = low.lanes(), .args = {low.e, high.e}}));
}

Vec dot_bf16(Vec a, Vec b, Vec sum) {
  check_same(a.e, b.e);
  AOE_CHECK(a.lanes() == sum.lanes(), "a sum of other lanes");
  return Vec(make(
      {.op = Op::kDotBf16, .type = Type::kFloat, .lanes = sum.lanes(), .args = {a.e, b.e, sum.e}}));
}

Vec pair_f16(Vec a) {
  return Vec(make({.op = Op::kPairF16, .type = Type::kInt32, .lanes = a.lanes(), .args = {a.e}}));
}

Vec fma_f16(Vec a, Vec b, Vec sum) {
  return ternary(Op::kFmaF16, a, b, sum);
}

namespace {

Vec half_of(Op op, const Vec& pairs) {
  return Vec(make({.op = op, .type = Type::kFloat, .lanes = pairs.lanes(), .args = {pairs.e}}));
}

}  // namespace

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

Vec pick(Vec places, Vec a, Vec b) {
  AOE_CHECK(places.type() == Type::kInt32, "pick() by lanes that are not int32");
  AOE_CHECK(a.type() == Type::kInt32 || a.type() == Type::kFloat, "pick() of lanes of 8 bytes");
  check_same(a.e, b.e);
  AOE_CHECK(places.lanes() == a.lanes(), "pick() of vectors of another length");
  return Vec(
      make({.op = Op::kPick, .type = a.type(), .lanes = a.lanes(), .args = {places.e, a.e, b.e}}));
}

Vec dot_u8s8(Vec a, Vec b, Vec sum) {
  return ternary(Op::kDotU8S8, a, b, sum);
}

Vec dot_i16(Vec a, Vec b, Vec sum) {
  return ternary(Op::kDotI16, a, b, sum);
}

Vec round_to_byte(Vec a, int zero) {
  AOE_CHECK(a.type() == Type::kFloat && zero >= 0 && zero <= 255, "round_to_byte()");
  return Vec(make({.op = Op::kRoundToByte,
                   .type = Type::kInt32,
                   .lanes = a.lanes(),
                   .args = {a.e},
                   .ivalue = zero}));
}

// ---- integer vectors ----

Vec int_splat(std::int64_t value, int lanes, Type type) {
  return Vec(make({.op = Op::kIntSplat, .type = type, .lanes = lanes, .ivalue = value}));
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
  return of_two(Op::kBitAnd, a, b);
}
Vec bit_or(Vec a, Vec b) {
  return of_two(Op::kBitOr, a, b);
}
Vec bit_xor(Vec a, Vec b) {
  return of_two(Op::kBitXor, a, b);
}

Vec convert(Vec a, Type to, bool is_signed) {
  if (a.type() == to) return a;
  return Vec(make({.op = is_signed ? Op::kConvert : Op::kConvertUnsigned,
                   .type = to,
                   .lanes = a.lanes(),
                   .args = {a.e}}));
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
      make({.op = Op::kActiveLanes, .type = Type::kMask, .lanes = lanes, .args = {count.e}}));
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
  return Mask(make({.op = Op::kMaskNot, .type = Type::kMask, .lanes = a.e->lanes, .args = {a.e}}));
}

Vec select(Mask mask, Vec if_on, Vec if_off) {
  AOE_CHECK(mask.e->lanes == if_on.lanes(), "a mask of other lanes");
  check_same(if_on.e, if_off.e);
  return Vec(make({.op = Op::kSelect,
                   .type = if_on.type(),
                   .lanes = if_on.lanes(),
                   .args = {mask.e, if_on.e, if_off.e}}));
}

}  // namespace aoe::compiler::loopnest
