#include "native/windows/depthwise_rows.h"

#include <algorithm>

#include "native/wide.h"

namespace aoe::native {
namespace {

#define AOE_BLOCKS wide_depth
#define AOE_BYTES 32
#define AOE_VECTOR AOE_WIDE
#include "native/windows/depthwise_rows.inc"

#if defined(__x86_64__)
#define AOE_BLOCKS long_depth
#define AOE_BYTES 64
#define AOE_VECTOR __attribute__((target("arch=x86-64-v4")))
#include "native/windows/depthwise_rows.inc"
#endif

}  // namespace

bool sum_depthwise(const DepthwiseBand& band, std::int64_t taps, std::int64_t stride) {
#if defined(__x86_64__)
  if (has_long_vectors() && long_depth::sum_depthwise(band, taps, stride)) return true;
#endif
  return wide_depth::sum_depthwise(band, taps, stride);
}

}  // namespace aoe::native
