// Quantize and Dequantize whose scales are computed, or those of an axis or of blocks along it; generated code has the others.
#include "reference/tensors/quantize.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "base/ceil_div.h"
#include "native/elements/quantize_packs.h"
#include "native/kernel.h"
#include "native/wide.h"
#include "reference/elements/typed.h"
#include "reference/tensors/axes.h"

namespace aoe::native {
namespace {

using reference::Spread;

/// Elements that lie one behind the other, and where their scales begin: one for all of them (step 0) or one for each.
struct Stretch {
  std::int64_t first, count, parameter, step;
};

/// The shape of scales and zero points, of which either may be one for all.
const Shape& parameters_of(const Run& run) {
  const bool has_zeros = run.has_input(2) && element_count(run.shape(2)) > 1;
  return has_zeros ? run.shape(2) : run.shape(1);
}

/// As many of them.
template <typename T>
std::vector<T> parameters(const Run& run, std::size_t input) {
  const auto count = static_cast<std::size_t>(element_count(parameters_of(run)));
  if (!run.has_input(input)) return std::vector<T>(count);
  const Tensor& given = run.inputs[input];
  const T* data = given.as<T>();
  if (given.elements() == 1) return std::vector<T>(count, *data);
  return std::vector<T>(data, data + given.elements());
}

/// How a tensor is cut into stretches, by the axis that its scales lie along.
class Stretches {
 public:
  explicit Stretches(const Run& run) {
    const Shape& x = run.shape(0);
    spread_ = reference::spread_of(run.attrs, parameters_of(run), x);
    if (spread_ == Spread::kOne) {
      elements_ = element_count(x);
      return;
    }
    view_ =
        reference::view_axis(x, reference::normalize_axis(run.attrs.get_int("axis", 1), x.size()));
    if (spread_ == Spread::kBlocks) block_ = run.attrs.get_int("block_size", 0);
  }

  std::int64_t count() const {
    if (spread_ == Spread::kOne) return ceil_div(elements_, kPart);
    return view_.outer * (is_row() ? 1 : parts());
  }
  double elements_each() const {
    if (spread_ == Spread::kOne) return kPart;
    return static_cast<double>(view_.outer * view_.dim * view_.inner) /
           static_cast<double>(std::max<std::int64_t>(1, count()));
  }

  Stretch operator[](std::int64_t i) const {
    if (spread_ == Spread::kOne) return {i * kPart, std::min(kPart, elements_ - i * kPart), 0, 0};
    if (is_row()) return {i * view_.dim, view_.dim, 0, 1};
    const std::int64_t outer = i / parts(), part = i % parts();
    if (spread_ != Spread::kBlocks) return {i * view_.inner, view_.inner, part, 0};
    if (view_.inner > 1) {
      const std::int64_t blocks = ceil_div(view_.dim, block_);
      return {i * view_.inner, view_.inner, (outer * blocks + part / block_) * view_.inner, 1};
    }
    const std::int64_t first = part * block_;
    return {outer * view_.dim + first, std::min(block_, view_.dim - first), i, 0};
  }

 private:
  /// All positions of the axis lie one behind the other, each with its scale.
  bool is_row() const { return spread_ == Spread::kAlongAxis && view_.inner == 1; }
  std::int64_t parts() const {
    const bool is_blocked_row = spread_ == Spread::kBlocks && view_.inner == 1;
    return is_blocked_row ? ceil_div(view_.dim, block_) : view_.dim;
  }

  static constexpr std::int64_t kPart = 4096;  ///< of what has one scale

  Spread spread_ = Spread::kOne;
  std::int64_t elements_ = 0;   ///< of kOne
  reference::AxisView view_{};  ///< of the others
  std::int64_t block_ = 1;
};

/// y = (x - zero) * scale: of integers that float32 holds in float32, which rounds but once, of others as the reference does.
template <typename T>
AOE_WIDE void dequantize(const T* __restrict x, const Stretch& at, const float* scale,
                         const T* zero, float* __restrict y) {
  using Real = std::conditional_t<sizeof(T) <= 2, float, double>;
  const auto [first, count, parameter, step] = at;
  if (step == 0) {
    const Real factor = scale[parameter];
    const Real shift = zero[parameter];
    for (std::int64_t i = first; i < first + count; ++i)
      y[i] = static_cast<float>((static_cast<Real>(x[i]) - shift) * factor);
    return;
  }
  for (std::int64_t i = 0; i < count; ++i) {
    const Real shift = zero[parameter + i];
    y[first + i] =
        static_cast<float>((static_cast<Real>(x[first + i]) - shift) * Real{scale[parameter + i]});
  }
}

using Integers = std::int32_t __attribute__((vector_size(kFloats * sizeof(std::int32_t))));

/// Saturates and rounds half to even, which is the same the other way round as the bounds are whole; NaN becomes 0. A vector at a
/// time, as compilers make branches of the comparisons.
template <typename T>
AOE_WIDE inline Integers quantized(Floats value, Floats divisor, Floats shift) {
  constexpr float kLow = std::numeric_limits<T>::min(), kHigh = std::numeric_limits<T>::max();
  constexpr float kNoHalves =
      3 << 22;  // added to what is in bounds, it leaves no room for fractions
  const Floats low = kLow - shift, high = kHigh - shift;
  value = value / divisor;
  value = value < low ? low : value;
  value = value > high ? high : value;
  value = (value + kNoHalves) - kNoHalves + shift;
  value = value == value ? value : Floats{};
  return __builtin_convertvector(value, Integers);
}

/// `count` is a vector at least. The last one begins where a vector is left.
template <typename T>
AOE_WIDE void quantize_vectors(const float* x, std::int64_t count, const float* scale,
                               const T* zero, bool is_one_scale, T* y) {
  using Narrow __attribute__((vector_size(kFloats * sizeof(T)))) = T;
  Floats divisor = Floats{} + *scale, shift = Floats{} + *zero;
  const std::int64_t packs = is_one_scale ? count / kPack : 0;
  quantize_packs(x, packs, *scale, *zero, y);
  for (std::int64_t next = packs * kPack; next < count; next += kFloats) {
    const std::int64_t i = std::min(next, count - kFloats);
    Floats value;
    std::memcpy(&value, x + i, sizeof value);
    if (!is_one_scale) {
      Narrow zeros;
      std::memcpy(&divisor, scale + i, sizeof divisor);
      std::memcpy(&zeros, zero + i, sizeof zeros);
      shift = __builtin_convertvector(zeros, Floats);
    }
    const Narrow whole = __builtin_convertvector(quantized<T>(value, divisor, shift), Narrow);
    std::memcpy(y + i, &whole, sizeof whole);
  }
}

template <typename T>
void quantize_stretch(const float* x, const Stretch& at, const float* scale, const T* zero, T* y) {
  const bool is_one_scale = at.step == 0;
  x += at.first, y += at.first, scale += at.parameter, zero += at.parameter;
  if (at.count >= kFloats) return quantize_vectors(x, at.count, scale, zero, is_one_scale, y);
  const std::int64_t scales = is_one_scale ? 1 : at.count;
  float some[kFloats] = {}, some_scales[kFloats] = {};
  T some_zeros[kFloats] = {}, result[kFloats];
  std::copy_n(x, at.count, some);
  std::copy_n(scale, scales, some_scales);
  std::copy_n(zero, scales, some_zeros);
  quantize_vectors(some, kFloats, some_scales, some_zeros, is_one_scale, result);
  std::copy_n(result, at.count, y);
}

using ByteTypes = reference::TypeList<std::int8_t, std::uint8_t, std::int16_t, std::uint16_t>;
using Quantized =
    reference::TypeList<std::int8_t, std::uint8_t, std::int16_t, std::uint16_t, std::int32_t>;

template <typename Each>
void for_each_stretch(const Run& run, double ns_per_element, const Each& each) {
  const Stretches stretches(run);
  run.threads.share(stretches.count(), 2 + ns_per_element * stretches.elements_each(),
                    [&](std::int64_t begin, std::int64_t end) {
                      for (std::int64_t i = begin; i < end; ++i) each(stretches[i]);
                    });
}

void run_dequantize(const Run& run) {
  const Tensor& y = run.output(0);
  if (y.data == nullptr || y.elements() == 0) return;
  const std::vector<float> scales = parameters<float>(run, 1);
  reference::visit_type<Quantized>(run.inputs[0].desc.dtype, [&]<typename T>() {
    const std::vector<T> zeros = parameters<T>(run, 2);
    for_each_stretch(run, 0.2, [&](const Stretch& at) {
      dequantize(run.inputs[0].as<T>(), at, scales.data(), zeros.data(), y.as<float>());
    });
  });
}

void run_quantize(const Run& run) {
  const Tensor& y = run.output(0);
  if (y.data == nullptr || y.elements() == 0) return;
  const std::vector<float> scales = parameters<float>(run, 1);
  reference::visit_type<ByteTypes>(y.desc.dtype, [&]<typename T>() {
    const std::vector<T> zeros = parameters<T>(run, 2);
    for_each_stretch(run, 0.5, [&](const Stretch& at) {
      quantize_stretch(run.inputs[0].as<float>(), at, scales.data(), zeros.data(), y.as<T>());
    });
  });
}

Result<void> has_scales(const Question& question) {
  if (auto taken = takes_types(question, 1, {DataType::kFloat}); !taken) return taken;
  if (question.call.attrs.has("output_dtype")) return Unexpected("the result's type is asked for");
  return {};
}

Result<void> supports_dequantize(const Question& question) {
  if (auto has = has_scales(question); !has) return has;
  return takes_types(
      question, 0,
      {DataType::kInt8, DataType::kUint8, DataType::kInt16, DataType::kUint16, DataType::kInt32});
}

Result<void> supports_quantize(const Question& question) {
  if (auto has = has_scales(question); !has) return has;
  if (auto taken = takes_types(question, 0, {DataType::kFloat}); !taken) return taken;
  return takes_types(question, 2,
                     {DataType::kInt8, DataType::kUint8, DataType::kInt16, DataType::kUint16});
}

}  // namespace

void register_quantize(KernelRegistry& registry) {
  registry.add({.type = "Quantize", .supports = supports_quantize, .run = run_quantize});
  registry.add({.type = "Dequantize", .supports = supports_dequantize, .run = run_dequantize});
}

}  // namespace aoe::native
