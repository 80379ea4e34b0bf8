// What the interpreter of loop nests (loopnest_eval.h) makes of lanes, one by one.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "base/check.h"
#include "reference/elements/arithmetic.h"
#include "tests/compiler/loopnest_lanes.h"

namespace aoe::compiler::loopnest {

template <typename T>
T nan_min(T a, T b) {
  return std::isnan(a) || b > a ? a : b;
}
template <typename T>
T nan_max(T a, T b) {
  return std::isnan(a) || b < a ? a : b;
}

template <typename T>
bool is_on(Op op, T a, T b) {
  switch (op) {
    case Op::kFloatLess:
      return a < b;
    case Op::kFloatLessEqual:
      return a <= b;
    case Op::kFloatEqual:
      return a == b;
    case Op::kMaskNot:
      return a == 0;
    case Op::kBitAnd:
      return a != 0 && b != 0;
    case Op::kBitOr:
      return a != 0 || b != 0;
    case Op::kBitXor:
      return (a != 0) != (b != 0);
    default:
      AOE_CHECK(false, "not a mask");
  }
}

template <typename T>
T lane(Op op, const std::vector<LanesOf<T>>& args, std::size_t i) {
  const auto at = [&](std::size_t arg) { return args[arg][i]; };
  switch (op) {
    case Op::kAdd:
      return at(0) + at(1);
    case Op::kSub:
      return at(0) - at(1);
    case Op::kMul:
      return at(0) * at(1);
    case Op::kDiv:
      return at(0) / at(1);
    case Op::kMin:
      return nan_min(at(0), at(1));
    case Op::kMax:
      return nan_max(at(0), at(1));
    case Op::kMax3:
      return nan_max(nan_max(at(0), at(1)), at(2));
    case Op::kFma:
      return std::fma(at(0), at(1), at(2));
    case Op::kNeg:
      return -at(0);
    case Op::kAbs:
      return std::fabs(at(0));
#define REAL_FUNCTION(op, function) \
  case Op::op:                      \
    return std::function(at(0));
#include "base/real_functions.inc"
#undef REAL_FUNCTION
    case Op::kSigmoid:
      return 1 / (1 + std::exp(-at(0)));
    case Op::kFmod:
      return std::fmod(at(0), at(1));
    case Op::kPow:
      return std::pow(at(0), at(1));
    case Op::kFloor:
      return std::floor(at(0));
    case Op::kRoundEven:
      return std::nearbyint(at(0));
    default:
      AOE_CHECK(false, "not an operation on lanes");
  }
}

/// `b` is `a` itself where there is one operand.
template <typename T>
T integer_lane(Op op, T a, T b) {
  using Bits = std::make_unsigned_t<T>;
  switch (op) {
    case Op::kAdd:
      return reference::add(a, b);
    case Op::kSub:
      return reference::subtract(a, b);
    case Op::kMul:
      return reference::multiply(a, b);
    case Op::kMin:
      return std::min(a, b);
    case Op::kMax:
      return std::max(a, b);
    case Op::kNeg:
      return reference::negate(a);
    case Op::kDiv:
      return b == 0 ? T{0} : b == -1 ? reference::negate(a) : a / b;
    case Op::kUnsignedDiv:
      return b == 0 ? T{0} : static_cast<T>(static_cast<Bits>(a) / static_cast<Bits>(b));
    case Op::kShiftLeft:
      return static_cast<T>(static_cast<Bits>(a) << b);
    case Op::kShiftRight:
      return static_cast<T>(static_cast<Bits>(a) >> b);
    case Op::kBitAnd:
      return a & b;
    case Op::kBitOr:
      return a | b;
    case Op::kBitXor:
      return a ^ b;
    default:
      AOE_CHECK(false, "not an operation on integer lanes");
  }
}

/// Lanes of `sources` and, behind them, `behind`.
template <typename Sources>
Sources pick(const Integers& places, Sources sources, const Sources& behind) {
  sources.insert(sources.end(), behind.begin(), behind.end());
  Sources picked;
  for (const std::int32_t place : places)
    picked.push_back(sources[static_cast<std::uint32_t>(place) % sources.size()]);
  return picked;
}

/// Halves first, as the language says.
template <typename T, typename Combine>
T reduce(LanesOf<T> lanes, Combine combine) {
  LanesOf<T> odd;
  while (lanes.size() > 1) {
    if (lanes.size() % 2 == 1) {
      odd.push_back(lanes.back());
      lanes.pop_back();
    }
    const std::size_t half = lanes.size() / 2;
    for (std::size_t i = 0; i < half; ++i) lanes[i] = combine(lanes[i], lanes[i + half]);
    lanes.resize(half);
  }
  T result = lanes[0];
  for (const T lane : odd) result = combine(result, lane);
  return result;
}

}  // namespace aoe::compiler::loopnest
