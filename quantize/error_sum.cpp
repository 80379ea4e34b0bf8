// See error_sum.h.
#include "quantize/error_sum.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace aoe::quantize {

void ErrorSum::add(const Tensor& right, const Tensor& found) {
  const std::int64_t count = right.elements();
  const float* const a = right.as<float>();
  const float* const b = found.as<float>();
  for (std::int64_t i = 0; i < count; ++i) {
    if (!std::isfinite(a[i])) continue;
    const double off = static_cast<double>(a[i]) - static_cast<double>(b[i]);
    const double size = std::isfinite(off) ? std::abs(off) : HUGE_VAL;
    signal_ += static_cast<double>(a[i]) * static_cast<double>(a[i]);
    noise_ += size * size;
    largest_ = std::max(largest_, size);
    low_ = std::min(low_, a[i]);
    high_ = std::max(high_, a[i]);
  }
  const std::int64_t row = right.desc.shape.empty() ? 1 : right.desc.shape.back();
  for (std::int64_t first = 0; row > 0 && first + row <= count; first += row) {
    const auto top = [&](const float* values) {
      return std::max_element(values + first, values + first + row) - values;
    };
    ++rows_;
    same_rows_ += top(a) == top(b) ? 1 : 0;
  }
}

double ErrorSum::relative() const {
  if (noise_ == 0) return 0;
  return signal_ == 0 ? HUGE_VAL : std::sqrt(noise_ / signal_);
}

double ErrorSum::snr_db() const {
  return noise_ == 0 ? HUGE_VAL : 10 * std::log10(signal_ / noise_);
}

double ErrorSum::largest() const {
  if (largest_ == 0) return 0;
  return high_ > low_ ? largest_ / (static_cast<double>(high_) - static_cast<double>(low_))
                      : HUGE_VAL;
}

double ErrorSum::same_top() const {
  return rows_ == 0 ? 1 : static_cast<double>(same_rows_) / static_cast<double>(rows_);
}

std::string text_of_error(double relative) {
  return fmt::format("{:.3g}%", relative * 100);
}

}  // namespace aoe::quantize
