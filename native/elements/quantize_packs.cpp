#include "native/elements/quantize_packs.h"

#include <cstring>
#include <limits>

#include "native/wide.h"

namespace aoe::native {
namespace {

#define AOE_PACKS short_packs
#define AOE_BYTES 32
#define AOE_VECTOR AOE_WIDE
#include "native/elements/quantize_packs.inc"

#if defined(__x86_64__)
#define AOE_PACKS long_packs
#define AOE_BYTES 64
#define AOE_VECTOR __attribute__((target("arch=x86-64-v4,prefer-vector-width=512")))
#include "native/elements/quantize_packs.inc"
#endif

}  // namespace

template <typename T>
void quantize_packs(const float* x, std::int64_t packs, float scale, T zero, T* y) {
#if defined(__x86_64__)
  if (has_long_vectors()) return long_packs::quantize(x, packs, scale, zero, y);
#endif
  short_packs::quantize(x, packs, scale, zero, y);
}

template void quantize_packs(const float*, std::int64_t, float, std::int8_t, std::int8_t*);
template void quantize_packs(const float*, std::int64_t, float, std::uint8_t, std::uint8_t*);
template void quantize_packs(const float*, std::int64_t, float, std::int16_t, std::int16_t*);
template void quantize_packs(const float*, std::int64_t, float, std::uint16_t, std::uint16_t*);

}  // namespace aoe::native
