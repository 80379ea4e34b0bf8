// Differences of results.
#include "base/tensor_error.h"

#include <algorithm>
#include <cmath>

namespace aoe {

double error_of_range(const Tensor& exact, const Tensor& other) {
  const std::int64_t count = exact.elements();
  if (exact.desc.dtype != DataType::kFloat || exact.data == nullptr || count == 0) return 0;
  const float *a = exact.as<float>(), *b = other.as<float>();
  const auto [low, high] = std::minmax_element(a, a + count);
  const double range = std::max(static_cast<double>(*high) - *low, 1e-30);
  double worst = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    if (a[i] == b[i] || (std::isnan(a[i]) && std::isnan(b[i]))) continue;
    const double error = std::abs(static_cast<double>(a[i]) - b[i]) / range;
    if (std::isnan(error)) return error;
    worst = std::max(worst, error);
  }
  return worst;
}

}  // namespace aoe
