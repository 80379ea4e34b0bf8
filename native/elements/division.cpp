#include "native/elements/division.h"

#include <bit>
#include <cmath>
#include <type_traits>

#include "native/wide.h"
#include "reference/elements/arithmetic.h"

namespace aoe::native {
namespace {

/// A whole number of at most 51 bits plus this has them at the end of its own.
constexpr double kWholeBits = 0x1.8p52;
constexpr auto kWholeBitsOf = std::bit_cast<std::uint64_t>(kWholeBits);

/// Of what real_of() takes a quotient, rounded, does not reach the next whole number: it has half as many digits as double (of 16 bits
/// and less, as float) at most.
template <typename T>
using Real = std::conditional_t<sizeof(T) <= 2, float, double>;

template <typename T>
AOE_WIDE inline Real<T> real_of(T x) {
  if constexpr (sizeof(T) < 4 || std::is_same_v<T, std::int32_t>)
    return static_cast<Real<T>>(x);
  else
    return std::bit_cast<double>(static_cast<std::uint64_t>(x) + kWholeBitsOf) - kWholeBits;
}

template <typename T>
AOE_WIDE inline T whole_of(Real<T> x) {
  if constexpr (sizeof(T) <= 2)
    return static_cast<T>(static_cast<std::int32_t>(x));
  else
    return static_cast<T>(std::bit_cast<std::uint64_t>(__builtin_trunc(x) + kWholeBits) -
                          kWholeBitsOf);
}

template <typename T>
AOE_WIDE void divide_as_real(const T* a, const T* b, std::int64_t count, T* to) {
  for (std::int64_t i = 0; i < count; ++i) {
    const T divisor = b[i] == 0 ? T{1} : b[i];
    const T quotient = whole_of<T>(real_of(a[i]) / real_of(divisor));
    to[i] = b[i] == 0 ? T{0} : quotient;
  }
}

/// Integers of 64 bits that real_of() takes.
template <typename T>
AOE_WIDE bool are_small(const T* x, std::int64_t count) {
  constexpr std::uint64_t kMost = std::uint64_t{1} << 50, kLeast = std::is_signed_v<T> ? kMost : 0;
  std::uint64_t bits = 0;
  for (std::int64_t i = 0; i < count; ++i) bits |= static_cast<std::uint64_t>(x[i]) + kLeast;
  return bits < 2 * kMost;
}

/// to[i] = a[i] - quotients[i] * b[i].
template <typename T>
AOE_WIDE void take_off_multiples(const T* a, const T* b, const T* quotients, std::int64_t count,
                                 T* to) {
  using Bits = std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>;
  for (std::int64_t i = 0; i < count; ++i) {
    const auto rest = static_cast<T>(static_cast<Bits>(a[i]) -
                                     static_cast<Bits>(quotients[i]) * static_cast<Bits>(b[i]));
    to[i] = b[i] == 0 ? T{0} : rest;
  }
}

/// NaN where that is not exact.
AOE_WIDE void take_near_remainders(const float* a, const float* b, std::int64_t count, float* to) {
  for (std::int64_t i = 0; i < count; ++i) {
    const double x = a[i], quotient = x / static_cast<double>(b[i]);
    const auto rest = static_cast<float>(x - __builtin_trunc(quotient) * static_cast<double>(b[i]));
    const bool is_exact = __builtin_fabs(quotient) < 1 << 28;
    to[i] = is_exact ? __builtin_copysignf(rest, a[i]) : __builtin_nanf("");
  }
}

}  // namespace

template <typename T>
void divide_all(const T* a, const T* b, std::int64_t count, T* to) {
  if constexpr (sizeof(T) == 8) {
    if (!are_small(a, count) || !are_small(b, count)) {
      for (std::int64_t i = 0; i < count; ++i) to[i] = reference::divide(a[i], b[i]);
      return;
    }
  }
  divide_as_real(a, b, count, to);
}

template <typename T>
void take_remainders(const T* a, const T* b, std::int64_t count, T* to) {
  constexpr std::int64_t kBlock = 256;
  for (; count > 0; a += kBlock, b += kBlock, to += kBlock, count -= kBlock) {
    const std::int64_t some = count < kBlock ? count : kBlock;
    T first[kBlock];
    if constexpr (std::is_integral_v<T>) {
      divide_all(a, b, some, first);
      take_off_multiples(a, b, first, some, to);
      continue;
    }
    constexpr bool is_float = std::is_same_v<T, float>;
    if constexpr (is_float) take_near_remainders(a, b, some, first);
    for (std::int64_t i = 0; i < some; ++i)
      to[i] = is_float && first[i] == first[i] ? first[i] : reference::remainder(a[i], b[i]);
  }
}

template void divide_all(const std::int8_t*, const std::int8_t*, std::int64_t, std::int8_t*);
template void take_remainders(const std::int8_t*, const std::int8_t*, std::int64_t, std::int8_t*);
template void divide_all(const std::uint8_t*, const std::uint8_t*, std::int64_t, std::uint8_t*);
template void take_remainders(const std::uint8_t*, const std::uint8_t*, std::int64_t,
                              std::uint8_t*);
template void divide_all(const std::int16_t*, const std::int16_t*, std::int64_t, std::int16_t*);
template void take_remainders(const std::int16_t*, const std::int16_t*, std::int64_t,
                              std::int16_t*);
template void divide_all(const std::uint16_t*, const std::uint16_t*, std::int64_t, std::uint16_t*);
template void take_remainders(const std::uint16_t*, const std::uint16_t*, std::int64_t,
                              std::uint16_t*);
template void divide_all(const std::int32_t*, const std::int32_t*, std::int64_t, std::int32_t*);
template void take_remainders(const std::int32_t*, const std::int32_t*, std::int64_t,
                              std::int32_t*);
template void divide_all(const std::uint32_t*, const std::uint32_t*, std::int64_t, std::uint32_t*);
template void take_remainders(const std::uint32_t*, const std::uint32_t*, std::int64_t,
                              std::uint32_t*);
template void divide_all(const std::int64_t*, const std::int64_t*, std::int64_t, std::int64_t*);
template void take_remainders(const std::int64_t*, const std::int64_t*, std::int64_t,
                              std::int64_t*);
template void divide_all(const std::uint64_t*, const std::uint64_t*, std::int64_t, std::uint64_t*);
template void take_remainders(const std::uint64_t*, const std::uint64_t*, std::int64_t,
                              std::uint64_t*);
template void take_remainders<float>(const float*, const float*, std::int64_t, float*);
template void take_remainders<double>(const double*, const double*, std::int64_t, double*);

}  // namespace aoe::native
