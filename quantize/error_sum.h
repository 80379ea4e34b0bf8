// ErrorSum: how far a value is off from what it should be, over many runs.
#pragma once

#include <cstdint>
#include <string>

#include "base/tensor.h"

namespace aoe::quantize {

class ErrorSum {
 public:
  /// Both float32 and of one shape. Numbers that are not finite in `right` are left out; where `found` alone is not
  /// finite, the error is infinite.
  void add(const Tensor& right, const Tensor& found);

  /// The root of the squares of what it is off, by that of its own; 0 when both are 0.
  double relative() const;
  double snr_db() const;
  double largest() const;  ///< difference, as a share of the range
  double same_top()
      const;  ///< share of the rows of the last dimension whose largest element is the same one

 private:
  double signal_ = 0, noise_ = 0, largest_ = 0;
  float low_ = 0, high_ = 0;
  std::uint64_t rows_ = 0, same_rows_ = 0;
};

std::string text_of_error(double relative);

}  // namespace aoe::quantize
