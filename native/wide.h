// AOE_WIDE in front of a function: compiled for the vectors that every machine has which runs oms (runtime/isa.cpp: avx2).
// What is inlined into it counts; a lambda or a call of something large does not. AOE_WIDE_EXACT: products that are added stay
// rounded by themselves, as the reference rounds them, where one that is truncated afterwards would show the difference.
#pragma once

#include <cstdint>

#if defined(__x86_64__)
#define AOE_WIDE __attribute__((target("arch=x86-64-v3")))
#define AOE_WIDE_EXACT __attribute__((target("avx2")))
#else
#define AOE_WIDE
#define AOE_WIDE_EXACT
#endif

namespace aoe::native {

#if defined(__x86_64__)
// ---- longer ones, for functions that are compiled for each length (`*.inc`) ----

/// Vectors of 64 bytes, as functions for arch=x86-64-v4 have them.
inline bool has_long_vectors() {
  static const bool has = __builtin_cpu_supports("x86-64-v4") != 0;
  return has;
}

/// Those, and products of quads of bytes, or pairs of 16 bits, in one instruction.
inline bool has_quads() {
  static const bool has = has_long_vectors() && __builtin_cpu_supports("avx512vnni") != 0;
  return has;
}
#endif

/// A vector, for loops that compilers do not make one of. Lives in functions that are AOE_WIDE, and is no argument of others.
inline constexpr std::int64_t kFloats = 8;
using Floats = float __attribute__((vector_size(kFloats * sizeof(float))));

/// The same of another type.
template <typename T>
struct Lanes {
  static constexpr std::int64_t kCount = kFloats * sizeof(float) / sizeof(T);
  using Vector __attribute__((vector_size(kFloats * sizeof(float)))) = T;
  /// Where it lies anywhere. Copied byte by byte, vectors would be halves in between, which processors wait for.
  using Loose
      __attribute__((vector_size(kFloats * sizeof(float)), aligned(alignof(T)), may_alias)) = T;
};

}  // namespace aoe::native
