#include "native/windows/short_windows.h"

#include <algorithm>

#include "native/wide.h"

namespace aoe::native {
namespace {

#define AOE_BLOCKS wide_windows
#define AOE_BYTES 32
#define AOE_VECTOR AOE_WIDE
#include "native/windows/short_windows.inc"

#if defined(__x86_64__)
#define AOE_BLOCKS long_windows
#define AOE_BYTES 64
#define AOE_VECTOR __attribute__((target("arch=x86-64-v4")))
#include "native/windows/short_windows.inc"
#endif

}  // namespace

bool sum_short_windows(const ShortWindows& windows) {
#if defined(__x86_64__)
  if (has_long_vectors() && long_windows::sum_windows(windows)) return true;
#endif
  return wide_windows::sum_windows(windows);
}

}  // namespace aoe::native
