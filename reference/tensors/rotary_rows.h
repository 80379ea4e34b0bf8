// RotaryRows: which angles turn each row of a RotaryMul; all shapes are known.
#pragma once

#include <span>

#include "base/tensor.h"
#include "reference/attrs.h"

namespace aoe::reference {

struct RotaryRows {
  RotaryRows(const Attrs& attrs, std::span<const Tensor> inputs)
      : is_interleaved(attrs.get_int("interleaved", 0) != 0),
        axis_(tokens_axis(attrs)),
        x_(inputs[0].desc.shape) {
    count = x_[0] * x_[1] * x_[2];
    size = x_[3];
    pairs = inputs[1].desc.shape[2];
    for (std::size_t i = 1; i < 3; ++i)
      images_[i - 1] = inputs[i].desc.shape[0] == 1 ? 0 : x_[axis_] * pairs;
  }

  static std::size_t tokens_axis(const Attrs& attrs) {
    return static_cast<std::size_t>(3 - attrs.get_int("heads_axis", 1));
  }

  /// Where those of a row begin in input `i`, 1 or 2.
  std::int64_t angles(std::int64_t row, std::size_t i) const {
    const std::int64_t image = row / (x_[1] * x_[2]),
                       token = axis_ == 2 ? row % x_[2] : row / x_[2] % x_[1];
    return image * images_[i - 1] + token * pairs;
  }

  std::int64_t count, size, pairs;
  bool is_interleaved;

 private:
  std::size_t axis_;
  const Shape& x_;
  std::int64_t images_[2];
};

}  // namespace aoe::reference
