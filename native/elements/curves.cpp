#include "native/elements/curves.h"

#include <cmath>
#include <limits>

#include "native/elements/exponential.h"

namespace aoe::native {

AOE_WIDE void write_sigmoids(float* x, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) {
    const float size = std::fabs(x[i]);
    // A gate of nothing at all: what it multiplies may be infinite.
    const float e = size == std::numeric_limits<float>::infinity() ? 0.0f : exp_clamped(-size);
    const float above = 1.0f / (1.0f + e), below = e * above;
    x[i] = x[i] < 0 ? below : above;
  }
}

AOE_WIDE void write_tanhs(float* x, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) {
    const float e = exp_clamped(-2.0f * std::fabs(x[i]));
    x[i] = std::copysign((1.0f - e) / (1.0f + e), x[i]);
  }
}

}  // namespace aoe::native
