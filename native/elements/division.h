// Quotients and remainders in loops that compilers make vectors of, which divide nothing but floating point: where that is exact.
#pragma once

#include <cstdint>

namespace aoe::native {

/// to[i] = reference::divide(a[i], b[i]). Of integers.
template <typename T>
void divide_all(const T* a, const T* b, std::int64_t count, T* to);

/// to[i] = reference::remainder(a[i], b[i]). Of integers, float and double.
template <typename T>
void take_remainders(const T* a, const T* b, std::int64_t count, T* to);

}  // namespace aoe::native
