#include "native/recurrence/gate_function.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "native/elements/curves.h"
#include "native/wide.h"

namespace aoe::native {
namespace {

template <typename T>
AOE_WIDE void write_clipped(T* x, std::int64_t count, T clip) {
  for (std::int64_t i = 0; i < count; ++i) x[i] = x[i] < -clip ? -clip : x[i] > clip ? clip : x[i];
}

template <typename T>
void apply_scalar(const GateFunction& function, T* x, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i)
    x[i] = static_cast<T>(function.scalar(static_cast<double>(x[i])));
}

}  // namespace

void GateFunction::apply(float* x, std::int64_t count) const {
  if (clip > 0) write_clipped(x, count, static_cast<float>(clip));
  if (name == "sigmoid") return write_sigmoids(x, count);
  if (name == "tanh") return write_tanhs(x, count);
  apply_scalar(*this, x, count);
}

void GateFunction::apply(double* x, std::int64_t count) const {
  if (clip > 0) write_clipped(x, count, clip);
  apply_scalar(*this, x, count);
}

}  // namespace aoe::native
