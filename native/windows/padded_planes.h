// PaddedPlanes: how windows read planes that were copied with zeros around them.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <vector>

#include "base/ceil_div.h"
#include "reference/windows/window.h"

namespace aoe::native {

/// Outputs are numbered as if the padding were part of their rows: what a tap reads is then at the same distance from what it reads
/// for output 0 everywhere, and short rows fill vectors. Numbers behind the end of a row are of no output. With strides a copy is
/// taken apart by phase, so that what a tap reads for neighbouring outputs lies side by side.
class PaddedPlanes {
 public:
  /// Whether its padding cuts nothing off, and is not far more than the plane, and there are not far more numbers than outputs: of
  /// a window as wide as its image each row has one.
  static bool takes(const reference::Window& window);
  /// Of a window without padding that cuts something off.
  static double numbers_per_output(const reference::Window& window);
  /// Of a window that it takes; it outlives this.
  explicit PaddedPlanes(const reference::Window& window);

  std::int64_t elements() const { return phases_ * phase_; }  ///< of a copy
  /// A plane needs no copy.
  bool is_plane() const { return phases_ == 1 && phase_ == window_.input_elements(); }
  /// The number of an output in row (z, y).
  std::int64_t number(std::int64_t z, std::int64_t y) const {
    return z * steps_[0] + y * steps_[1];
  }
  std::int64_t row() const { return steps_[1]; }  ///< numbers from row to row
  /// As many as the last output's, and one.
  std::int64_t numbers() const;

  /// Numbers from `first` to `end` that are of outputs, row by row: f(the first number, its output's place in a plane, how many).
  template <typename F>
  void for_each_row(std::int64_t first, std::int64_t end, const F& f) const {
    const auto& [d, h, w] = window_.axes;
    const std::int64_t rows = steps_[0] / steps_[1];
    std::int64_t z = first / steps_[0], y = first % steps_[0] / steps_[1], x = first % steps_[1];
    for (std::int64_t at = first, until; at < end; at = until, x = 0) {
      until = std::min(end, at - x + steps_[1]);
      const std::int64_t count = std::min(until - at, w.output - x);
      if (y < h.output && count > 0) f(at, (z * h.output + y) * w.output + x, count);
      if (++y == rows) y = 0, ++z;
    }
  }

  /// Where each tap of the window reads for output 0.
  std::vector<std::int64_t> taps() const;

  /// Of a plane into a copy; what is no element of the plane stays as it is.
  template <typename T>
  void copy(const T* plane, T* to) const;

 private:
  /// Of an element of an axis of a plane with its padding.
  struct Phased {
    std::int64_t phase, number;
  };
  static Phased phased(const reference::WindowAxis& axis, std::int64_t i);
  std::int64_t place(Phased z, Phased y, Phased x) const;

  const reference::Window& window_;
  std::array<std::int64_t, 3> steps_ =
      {};  ///< of a phase, from one element to the next along each axis
  std::int64_t phase_ = 1, phases_ = 1;  ///< elements of a phase; how many there are
  std::vector<std::int64_t> rows_;  ///< where each phase of each row of a plane begins in a copy
};

/// to[i] = from[i * stride]. For rows so short that a call for each would take longer than the copy.
template <typename T>
void copy_row(const T* from, std::int64_t stride, std::int64_t count, T* to);
/// The same of what lies side by side; what completes 16 bytes may be written, too, where there is `room` for so many elements.
template <typename T>
inline void copy_over(const T* from, std::int64_t count, std::int64_t room, T* to) {
  constexpr std::int64_t kChunk = 16 / sizeof(T);
  if (round_up(count, kChunk) > room) return copy_row(from, 1, count, to);
  for (std::int64_t i = 0; i < count; i += kChunk) std::memcpy(to + i, from + i, 16);
}
/// Dense rows of `count` elements, the next of which lies `stride` behind one. Of float and double.
template <typename T>
void copy_rows(const T* from, std::int64_t stride, std::int64_t count, std::int64_t rows, T* to,
               std::int64_t to_stride);

}  // namespace aoe::native
