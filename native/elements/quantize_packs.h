// Floating point to narrow integers by one scale, in vectors as long as the processor has.
#pragma once

#include <cstdint>

namespace aoe::native {

inline constexpr std::int64_t kPack = 32;  ///< as many as a vector of results has

/// y[i] = x[i] / scale, rounded half to even, and zero, saturated; NaN becomes 0. Of bytes and 16 bits, `packs` times kPack.
template <typename T>
void quantize_packs(const float* x, std::int64_t packs, float scale, T zero, T* y);

}  // namespace aoe::native
