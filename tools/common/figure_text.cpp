// Enough decimals.
#include "tools/common/figure_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace aoe::tools {

std::string figure_text(double value, int decimals) {
  constexpr int kDigits = 3, kMostDecimals = 9;
  if (value > 0) {
    const int digits_before_point = static_cast<int>(std::floor(std::log10(value))) + 1;
    decimals = std::max(decimals, std::min(kDigits - digits_before_point, kMostDecimals));
  }
  return fmt::format("{:.{}f}", value, decimals);
}

}  // namespace aoe::tools
