#include "native/windows/padded_planes.h"

#include <algorithm>
#include <cstring>

#include "base/ceil_div.h"
#include "native/wide.h"

namespace aoe::native {
namespace {

/// Elements of an axis with its padding.
std::int64_t padded(const reference::WindowAxis& axis) {
  return std::max(axis.pad_begin + axis.input, (axis.output - 1) * axis.stride + axis.reach());
}

/// Of an axis of one output any stride is the same.
std::int64_t stride_of(const reference::WindowAxis& axis) {
  return axis.output > 1 ? axis.stride : 1;
}

std::int64_t phase_length(const reference::WindowAxis& axis) {
  return (padded(axis) + stride_of(axis) - 1) / stride_of(axis);
}

}  // namespace

double PaddedPlanes::numbers_per_output(const reference::Window& window) {
  double numbers = 1;  // which may be more than integers count
  for (const reference::WindowAxis& axis : window.axes)
    numbers =
        (numbers - 1) * static_cast<double>(phase_length(axis)) + static_cast<double>(axis.output);
  return numbers / static_cast<double>(window.output_elements());
}

bool PaddedPlanes::takes(const reference::Window& window) {
  constexpr double kMostTimes = 8, kMostNumbers = 4;
  double elements = 1;
  for (const reference::WindowAxis& axis : window.axes) {
    if (axis.pad_begin < 0 || axis.pad_end < 0) return false;
    elements *= static_cast<double>(phase_length(axis)) * static_cast<double>(stride_of(axis));
  }
  return elements <= kMostTimes * static_cast<double>(window.input_elements()) &&
         numbers_per_output(window) <= kMostNumbers;
}

PaddedPlanes::PaddedPlanes(const reference::Window& window) : window_(window) {
  for (std::size_t i = window.axes.size(); i-- > 0;) {
    const reference::WindowAxis& axis = window.axes[i];
    steps_[i] = phase_;
    phase_ *= phase_length(axis);
    phases_ *= stride_of(axis);
  }
  const auto& [d, h, w] = window.axes;
  for (std::int64_t z = 0; z < d.input; ++z)
    for (std::int64_t y = 0; y < h.input; ++y)
      for (std::int64_t x = 0; x < std::min(stride_of(w), w.input); ++x)
        rows_.push_back(place(phased(d, z + d.pad_begin), phased(h, y + h.pad_begin),
                              phased(w, x + w.pad_begin)));
}

PaddedPlanes::Phased PaddedPlanes::phased(const reference::WindowAxis& axis, std::int64_t i) {
  const std::int64_t stride = stride_of(axis);
  return {i % stride, i / stride};
}

std::int64_t PaddedPlanes::numbers() const {
  const auto& [d, h, w] = window_.axes;
  return number(d.output - 1, h.output - 1) + w.output;
}

std::int64_t PaddedPlanes::place(Phased z, Phased y, Phased x) const {
  const auto& [d, h, w] = window_.axes;
  const std::int64_t phase = (z.phase * stride_of(h) + y.phase) * stride_of(w) + x.phase;
  return phase * phase_ + z.number * steps_[0] + y.number * steps_[1] + x.number;
}

std::vector<std::int64_t> PaddedPlanes::taps() const {
  const auto& [d, h, w] = window_.axes;
  std::vector<std::int64_t> taps;
  for (std::int64_t kd = 0; kd < d.kernel; ++kd)
    for (std::int64_t kh = 0; kh < h.kernel; ++kh)
      for (std::int64_t kw = 0; kw < w.kernel; ++kw)
        taps.push_back(place(phased(d, kd * d.dilation), phased(h, kh * h.dilation),
                             phased(w, kw * w.dilation)));
  return taps;
}

namespace {

/// A stride that the compiler knows: it takes vectors apart.
template <std::int64_t kStride, typename T>
AOE_WIDE void copy_strided(const T* __restrict from, std::int64_t count, T* __restrict to) {
  for (std::int64_t i = 0; i < count; ++i) to[i] = from[i * kStride];
}

/// As many bytes as a Word has, to twice as many: both ends, over each other.
template <typename Word>
inline void copy_ends(const void* from, std::int64_t count, void* to) {
  const auto* const x = static_cast<const std::uint8_t*>(from);
  auto* const y = static_cast<std::uint8_t*>(to);
  const std::size_t rest = static_cast<std::size_t>(count) - sizeof(Word);
  Word first, last;
  std::memcpy(&first, x, sizeof first);
  std::memcpy(&last, x + rest, sizeof last);
  std::memcpy(y, &first, sizeof first);
  std::memcpy(y + rest, &last, sizeof last);
}

/// 4 to 15 bytes.
inline void copy_few(const void* from, std::int64_t count, void* to) {
  count < 8 ? copy_ends<std::uint32_t>(from, count, to) : copy_ends<std::uint64_t>(from, count, to);
}

/// The ends of what does not fill vectors are copied by two that overlap.
template <typename T>
AOE_WIDE inline void copy_dense(const T* from, std::int64_t count, T* to) {
  using Vector = typename Lanes<T>::Loose;
  constexpr std::int64_t kWhole = Lanes<T>::kCount, kHalf = kWhole / 2;
  const auto copy_vector = [&](std::int64_t i) {
    *reinterpret_cast<Vector*>(to + i) = *reinterpret_cast<const Vector*>(from + i);
  };
  if (count >= kWhole) {
    for (std::int64_t i = 0; i + kWhole <= count; i += kWhole) {
      copy_vector(i);
      asm("" : "+r"(from));  // or compilers make a call of memcpy() of this loop
    }
    return copy_vector(count - kWhole);
  }
  if (sizeof(T) == 1 && count >= 4 && count < kHalf) return copy_few(from, count, to);
  if (count < kHalf) {
    for (std::int64_t i = 0; i < count; ++i) to[i] = from[i];
    return;
  }
  std::memcpy(to, from, kHalf * sizeof(T));
  std::memcpy(to + count - kHalf, from + count - kHalf, kHalf * sizeof(T));
}

/// even[i] = from[2 * i], odd[i] = from[2 * i + 1], of `count` elements, kPairs at least. The last vectors overlap.
constexpr std::int64_t kPairs = 8;
template <typename T>
AOE_WIDE inline void split_pairs(const T* from, std::int64_t count, T* even, T* odd) {
  using Four __attribute__((vector_size(4 * sizeof(T)), aligned(alignof(T)), may_alias)) = T;
  const std::int64_t last = (count - kPairs) / 2 * 2;
  for (std::int64_t i = 0;; i = std::min(i + kPairs, last)) {
    const Four a = *reinterpret_cast<const Four*>(from + i),
               b = *reinterpret_cast<const Four*>(from + i + 4);
    *reinterpret_cast<Four*>(even + i / 2) = __builtin_shufflevector(a, b, 0, 2, 4, 6);
    *reinterpret_cast<Four*>(odd + i / 2) = __builtin_shufflevector(a, b, 1, 3, 5, 7);
    if (i == last) break;
  }
  if (count % 2 == 1) even[count / 2] = from[count - 1];
}

/// The same of bytes, kBytePairs at least.
constexpr std::int64_t kBytePairs = 32;
AOE_WIDE inline void split_byte_pairs(const std::uint8_t* from, std::int64_t count,
                                      std::uint8_t* even, std::uint8_t* odd) {
  using Half __attribute__((vector_size(16), aligned(1), may_alias)) = std::uint8_t;
  const std::int64_t last = (count - kBytePairs) / 2 * 2;
  for (std::int64_t i = 0;; i = std::min(i + kBytePairs, last)) {
    const Half a = *reinterpret_cast<const Half*>(from + i),
               b = *reinterpret_cast<const Half*>(from + i + 16);
    *reinterpret_cast<Half*>(even + i / 2) =
        __builtin_shufflevector(a, b, 0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
    *reinterpret_cast<Half*>(odd + i / 2) =
        __builtin_shufflevector(a, b, 1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31);
    if (i == last) break;
  }
  if (count % 2 == 1) even[count / 2] = from[count - 1];
}

/// Rows of `count` elements to where `places` says.
template <typename T>
AOE_WIDE void copy_to_places(const T* from, std::int64_t count, std::int64_t rows,
                             const std::int64_t* places, T* to) {
  const auto copy = [&](auto copy_one) __attribute__((always_inline)) {
    for (std::int64_t i = 0; i < rows; ++i, from += count) copy_one(to + places[i]);
  };
  if (sizeof(T) == 1 && count >= 4 && count < 8)
    return copy([&](T* row) { copy_ends<std::uint32_t>(from, count, row); });
  if (sizeof(T) == 1 && count >= 8 && count <= 16)
    return copy([&](T* row) { copy_ends<std::uint64_t>(from, count, row); });
  for (std::int64_t i = 0; i < rows; ++i) copy_dense(from + i * count, count, to + places[i]);
}

}  // namespace

template <typename T>
void copy_row(const T* from, std::int64_t stride, std::int64_t count, T* to) {
  if (stride == 1) return copy_dense(from, count, to);
  if (stride == 2) return copy_strided<2>(from, count, to);
  for (std::int64_t i = 0; i < count; ++i) to[i] = from[i * stride];
}

template <typename T>
AOE_WIDE void copy_rows(const T* from, std::int64_t stride, std::int64_t count, std::int64_t rows,
                        T* to, std::int64_t to_stride) {
  for (std::int64_t i = 0; i < rows; ++i) copy_dense(from + i * stride, count, to + i * to_stride);
}

template <typename T>
AOE_WIDE void PaddedPlanes::copy(const T* plane, T* to) const {
  const auto& [d, h, w] = window_.axes;
  const std::int64_t stride = stride_of(w), rows = d.input * h.input;
  const std::int64_t* row = rows_.data();
  if (stride == 1) return copy_to_places(plane, w.input, rows, row, to);
  if constexpr (sizeof(T) == 1)
    if (stride == 2 && w.input >= kBytePairs) {
      for (std::int64_t i = 0; i < rows; ++i, plane += w.input, row += 2)
        split_byte_pairs(plane, w.input, to + row[0], to + row[1]);
      return;
    }
  if (stride == 2 && w.input >= kPairs) {
    for (std::int64_t i = 0; i < rows; ++i, plane += w.input, row += 2)
      split_pairs(plane, w.input, to + row[0], to + row[1]);
    return;
  }
  for (std::int64_t i = 0; i < rows; ++i, plane += w.input)
    for (std::int64_t x = 0; x < std::min(stride, w.input); ++x)
      copy_row(plane + x, stride, ceil_div(w.input - x, stride), to + *row++);
}

template void copy_row(const float*, std::int64_t, std::int64_t, float*);
template void copy_row(const double*, std::int64_t, std::int64_t, double*);
template void copy_row(const std::int32_t*, std::int64_t, std::int64_t, std::int32_t*);
template void copy_row(const std::uint8_t*, std::int64_t, std::int64_t, std::uint8_t*);
template void copy_rows(const float*, std::int64_t, std::int64_t, std::int64_t, float*,
                        std::int64_t);
template void copy_rows(const double*, std::int64_t, std::int64_t, std::int64_t, double*,
                        std::int64_t);
template void PaddedPlanes::copy(const float*, float*) const;
template void PaddedPlanes::copy(const double*, double*) const;
template void PaddedPlanes::copy(const std::uint8_t*, std::uint8_t*) const;
template void PaddedPlanes::copy(const std::uint32_t*, std::uint32_t*) const;

}  // namespace aoe::native
