#include "native/products/row_ending.h"

#include "native/elements/exponential.h"
#include "native/wide.h"

namespace aoe::native {
namespace {

template <typename T>
AOE_WIDE void clip(T* row, std::int64_t count, T low, T high) {
  for (std::int64_t i = 0; i < count; ++i) {
    const T above = row[i] < low ? low : row[i];
    row[i] = above > high ? high : above;
  }
}

template <typename T>
AOE_WIDE void scale_negative(T* row, std::int64_t count, T slope) {
  for (std::int64_t i = 0; i < count; ++i) row[i] = row[i] < 0 ? row[i] * slope : row[i];
}

template <typename T>
void end(const RowEnding& ending, T* row, std::int64_t count) {
  if (ending.slope != 1) scale_negative<T>(row, count, static_cast<T>(ending.slope));
  if (ending.has_bounds())
    clip<T>(row, count, static_cast<T>(ending.low), static_cast<T>(ending.high));
}

#define AOE_BLOCKS wide_curves
#define AOE_VECTOR AOE_WIDE
#include "native/products/row_curves.inc"

#if defined(__x86_64__)
#define AOE_BLOCKS long_curves
#define AOE_VECTOR __attribute__((target("arch=x86-64-v4,prefer-vector-width=512")))
#include "native/products/row_curves.inc"
#endif

}  // namespace

void RowEnding::apply_curve(float* row, std::int64_t count) const {
#if defined(__x86_64__)
  if (has_long_vectors()) return long_curves::apply_curve(curve, row, count);
#endif
  wide_curves::apply_curve(curve, row, count);
}

void RowEnding::apply(float* row, std::int64_t count) const {
  end(*this, row, count);
  if (curve != Curve::kNone) apply_curve(row, count);
}

void RowEnding::apply(double* row, std::int64_t count) const {
  end(*this, row, count);
}

}  // namespace aoe::native
