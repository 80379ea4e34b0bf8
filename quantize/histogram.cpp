// See histogram.h.
#include "quantize/histogram.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

namespace aoe::quantize {
namespace {

/// How much of `whole` (whose last bin holds what was cut off) is lost when its first `kept` bins, as they are, are
/// told by `levels` numbers.
double divergence(const std::vector<double>& whole, const std::vector<double>& inside,
                  std::size_t levels) {
  const std::size_t kept = whole.size();
  std::vector<double> told(kept);
  for (std::size_t level = 0; level < levels; ++level) {
    const std::size_t begin = level * kept / levels, end = (level + 1) * kept / levels;
    double sum = 0;
    std::size_t used = 0;
    for (std::size_t i = begin; i < end; ++i) {
      sum += inside[i];
      used += whole[i] > 0 ? 1 : 0;
    }
    for (std::size_t i = begin; i < end; ++i)
      if (whole[i] > 0) told[i] = sum / static_cast<double>(used);
  }
  const double all = std::accumulate(whole.begin(), whole.end(), 0.0);
  const double all_told = std::accumulate(told.begin(), told.end(), 0.0);
  if (all_told == 0) return HUGE_VAL;
  double lost = 0;
  for (std::size_t i = 0; i < kept; ++i) {
    if (whole[i] == 0) continue;
    constexpr double kNever = 1e-4;  // of one count: a value that is there and that no byte tells
    lost += whole[i] / all * std::log(whole[i] / all / (std::max(told[i], kNever) / all_told));
  }
  return lost;
}

}  // namespace

std::string method_name(Method method) {
  constexpr const char* kNames[] = {"minmax", "percentile", "entropy"};
  return kNames[static_cast<std::size_t>(method)];
}

void Histogram::widen(std::span<const float> values) {
  for (const float value : values) {
    if (!std::isfinite(value)) continue;
    low_ = is_empty() ? value : std::min(low_, value);
    high_ = std::max(high_, value);
  }
}

float Histogram::largest() const {
  return std::max(std::abs(low_), std::abs(high_));
}

void Histogram::count(std::span<const float> values) {
  if (is_empty() || largest() == 0) return;
  const double scale = kBins / 2.0 / largest();
  for (const float value : values) {
    if (!std::isfinite(value)) continue;
    zeros_ += value == 0 ? 1 : 0;
    const double place = std::floor(value * scale + kBins / 2.0);
    ++bins_[static_cast<std::size_t>(std::clamp(place, 0.0, kBins - 1.0))];
  }
}

Range Histogram::range(Method method, double percent) const {
  if (is_empty() || largest() == 0) return {};
  switch (method) {
    case Method::kMinMax:
      return {low_, high_};
    case Method::kPercentile:
      return percentile(percent);
    case Method::kEntropy:
      return entropy();
  }
  return {low_, high_};
}

Range Histogram::percentile(double percent) const {
  const auto all =
      static_cast<double>(std::accumulate(bins_.begin(), bins_.end(), std::uint64_t{}));
  const double outside = all * (1 - percent / 100);
  const float width = 2 * largest() / kBins;
  std::size_t first = 0, last = kBins - 1;
  for (double seen = 0; first < last && seen + static_cast<double>(bins_[first]) <= outside;
       ++first)
    seen += static_cast<double>(bins_[first]);
  for (double seen = 0; last > first && seen + static_cast<double>(bins_[last]) <= outside; --last)
    seen += static_cast<double>(bins_[last]);
  const auto edge = [&](std::size_t bin) { return static_cast<float>(bin) * width - largest(); };
  return {std::max(low_, edge(first)), std::min(high_, edge(last + 1))};
}

Range Histogram::entropy() const {
  constexpr std::size_t kHalf = kBins / 2;
  std::vector<double> magnitudes(kHalf);
  for (std::size_t i = 0; i < kHalf; ++i)
    magnitudes[i] = static_cast<double>(bins_[kHalf + i] + bins_[kHalf - 1 - i]);
  // Zeros, of which activations leave many, are told without loss whatever the range is.
  magnitudes[0] -= static_cast<double>(zeros_);
  // Bytes have 256 steps over both signs, or over the one there is.
  const std::size_t levels = low_ < 0 && high_ > 0 ? 128 : 256;
  std::size_t best = kHalf;
  double least = HUGE_VAL;
  for (std::size_t kept = levels; kept <= kHalf; kept += 16) {
    std::vector<double> inside(magnitudes.begin(),
                               magnitudes.begin() + static_cast<std::ptrdiff_t>(kept));
    std::vector<double> whole = inside;
    whole.back() += std::accumulate(magnitudes.begin() + static_cast<std::ptrdiff_t>(kept),
                                    magnitudes.end(), 0.0);
    const double lost = divergence(whole, inside, levels);
    if (lost > least) continue;  // of equals the wider one
    least = lost;
    best = kept;
  }
  const float cut = largest() * static_cast<float>(best) / kHalf;
  return {std::max(low_, -cut), std::min(high_, cut)};
}

}  // namespace aoe::quantize
