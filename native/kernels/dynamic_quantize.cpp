// DynamicQuantizeLinear: the range of all elements, then each as a byte of it.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <mutex>

#include "native/kernel.h"
#include "native/wide.h"
#include "reference/elements/typed.h"
#include "reference/tensors/quantize.h"

namespace aoe::native {
namespace {

/// Holds zero, so that zero is exact.
struct Span {
  float low = 0, high = 0;
};

AOE_WIDE Span span_of(const float* x, std::int64_t count) {
  Floats low = {}, high = {};
  std::int64_t i = 0;
  for (; i + kFloats <= count; i += kFloats) {
    Floats some;
    std::memcpy(&some, x + i, sizeof some);
    low = some < low ? some : low;
    high = high < some ? some : high;
  }
  Span span;
  for (std::int64_t lane = 0; lane < kFloats; ++lane)
    span = {std::min(span.low, low[lane]), std::max(span.high, high[lane])};
  for (; i < count; ++i) span = {std::min(span.low, x[i]), std::max(span.high, x[i])};
  return span;
}

AOE_WIDE void quantize_part(const float* __restrict x, std::int64_t count, float divisor,
                            std::int32_t zero_point, std::uint8_t* __restrict y) {
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int32_t value =
        static_cast<std::int32_t>(std::nearbyint(x[i] / divisor)) + zero_point;
    y[i] = static_cast<std::uint8_t>(std::clamp(value, 0, 255));
  }
}

void run_dynamic_quantize(const Run& run) {
  const auto* x = run.inputs[0].as<float>();
  const std::int64_t count = run.inputs[0].elements();
  Span all;
  std::mutex mutex;
  run.threads.share(count, 0.1, [&](std::int64_t begin, std::int64_t end) {
    const Span part = span_of(x + begin, end - begin);
    const std::lock_guard lock(mutex);
    all = {std::min(all.low, part.low), std::max(all.high, part.high)};
  });
  const reference::QuantRange range = reference::quant_range(DataType::kUint8);
  const float scale = (all.high - all.low) / static_cast<float>(range.max);
  // A tensor of zeros has no scale of its own; any will do.
  const float divisor = scale == 0 ? 1 : scale;
  const auto zero_point = reference::convert<std::uint8_t>(
      std::nearbyint(std::clamp(static_cast<double>(-all.low / divisor), range.min, range.max)));
  if (const Tensor& y = run.output(0); y.data != nullptr)
    run.threads.share(count, 0.2, [&](std::int64_t begin, std::int64_t end) {
      quantize_part(x + begin, end - begin, divisor, zero_point, y.as<std::uint8_t>() + begin);
    });
  if (const Tensor& scales = run.output(1); scales.data != nullptr) *scales.as<float>() = scale;
  if (const Tensor& zero_points = run.output(2); zero_points.data != nullptr)
    *zero_points.as<std::uint8_t>() = zero_point;
}

}  // namespace

void register_dynamic_quantize(KernelRegistry& registry) {
  registry.add({.type = "DynamicQuantizeLinear",
                .supports = takes_floats(1),
                .run = run_dynamic_quantize,
                .takes_any_order = true});
}

}  // namespace aoe::native
