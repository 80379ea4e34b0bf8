// The loops that formulas of one type are made of (typed_formula.h). Conditions are 1 and 0 of that type.
#pragma once

#include <cstdint>
#include <type_traits>

#include "native/elements/division.h"
#include "native/wide.h"
#include "reference/elements/arithmetic.h"
#include "reference/formula.h"

namespace aoe::native {

using reference::Fn;

template <typename T, typename F>
AOE_WIDE void write(const T* x, std::int64_t count, T* to, F f) {
  for (std::int64_t i = 0; i < count; ++i) to[i] = f(x[i]);
}

template <typename T, typename F>
AOE_WIDE void write(const T* a, const T* b, std::int64_t count, T* to, F f) {
  for (std::int64_t i = 0; i < count; ++i) to[i] = f(a[i], b[i]);
}

template <typename T, typename F>
AOE_WIDE void write(const T* a, const T* b, const T* c, std::int64_t count, T* to, F f) {
  for (std::int64_t i = 0; i < count; ++i) to[i] = f(a[i], b[i], c[i]);
}

template <typename T>
AOE_WIDE void gather(const T* from, std::int64_t stride, std::int64_t count, T* to) {
  for (std::int64_t i = 0; i < count; ++i) to[i] = from[i * stride];
}

/// 1 and 0. Of somebody else's bool any byte but 0 is true.
template <typename T>
AOE_WIDE void widen(const std::uint8_t* from, std::int64_t stride, std::int64_t count, T* to) {
  if (stride == 1) {
    for (std::int64_t i = 0; i < count; ++i) to[i] = from[i] != 0 ? T{1} : T{0};
    return;
  }
  for (std::int64_t i = 0; i < count; ++i) to[i] = from[i * stride] != 0 ? T{1} : T{0};
}

template <typename T>
AOE_WIDE void narrow(const T* from, std::int64_t count, std::uint8_t* to) {
  for (std::int64_t i = 0; i < count; ++i) to[i] = from[i] != 0 ? std::uint8_t{1} : std::uint8_t{0};
}

/// Those of two numbers. False: it is none.
template <typename T>
bool compute_two(Fn fn, const T* a, const T* b, std::int64_t count, T* to) {
  const auto all = [&](auto f) {
    write(a, b, count, to, f);
    return true;
  };
  switch (fn) {
    case Fn::kAdd:
      return all([](T x, T y) { return reference::add(x, y); });
    case Fn::kSub:
      return all([](T x, T y) { return reference::subtract(x, y); });
    case Fn::kMul:
      return all([](T x, T y) { return reference::multiply(x, y); });
    case Fn::kMin:
      return all([](T x, T y) { return (x < y) | (x != x) ? x : y; });
    case Fn::kMax:
      return all([](T x, T y) { return (x > y) | (x != x) ? x : y; });
    case Fn::kLess:
      return all([](T x, T y) { return x < y ? T{1} : T{0}; });
    case Fn::kLessEqual:
      return all([](T x, T y) { return x <= y ? T{1} : T{0}; });
    case Fn::kEqual:
      return all([](T x, T y) { return x == y ? T{1} : T{0}; });
    default:
      break;
  }
  if (fn == Fn::kRemainder) return take_remainders(a, b, count, to), true;
  if constexpr (std::is_floating_point_v<T>) {
    if (fn == Fn::kDiv) return all([](T x, T y) { return x / y; });
  } else {
    constexpr auto kBits = static_cast<std::make_unsigned_t<T>>(sizeof(T) * 8);
    using Bits = std::make_unsigned_t<T>;
    if (fn == Fn::kDiv) return divide_all(a, b, count, to), true;
    if (fn == Fn::kShiftLeft)
      return all([](T x, T y) {
        const Bits wide = static_cast<Bits>(x), by = static_cast<Bits>(y);
        return by < kBits ? static_cast<T>(wide << (by % kBits)) : T{0};
      });
    if (fn == Fn::kShiftRight)
      return all([](T x, T y) {
        const Bits wide = static_cast<Bits>(x), by = static_cast<Bits>(y);
        return by < kBits ? static_cast<T>(wide >> (by % kBits)) : T{0};
      });
    if (fn == Fn::kAnd) return all([](T x, T y) { return static_cast<T>(x & y); });
    if (fn == Fn::kOr) return all([](T x, T y) { return static_cast<T>(x | y); });
    if (fn == Fn::kXor) return all([](T x, T y) { return static_cast<T>(x ^ y); });
  }
  return false;
}

/// Conditions of conditions, which are 1 and 0.
template <typename T>
void join_conditions(Fn fn, const T* a, const T* b, std::int64_t count, T* to) {
  if (fn == Fn::kNot) return write(a, count, to, [](T x) { return x != 0 ? T{0} : T{1}; });
  if (fn == Fn::kXor) return write(a, b, count, to, [](T x, T y) { return x != y ? T{1} : T{0}; });
  if (fn == Fn::kAnd) return write(a, b, count, to, [](T x, T y) { return x < y ? x : y; });
  return write(a, b, count, to, [](T x, T y) { return x < y ? y : x; });
}

}  // namespace aoe::native
