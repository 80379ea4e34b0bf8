// Resampling along one axis: for every output position the input positions it is made of, and their weights.
// Resize and Upsample apply it axis by axis.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/tensor.h"

namespace aoe::reference {

/// Attributes of ONNX Resize that one axis needs, by their ONNX words.
struct ResampleMode {
  std::string interpolation = "nearest";   ///< nearest, linear, cubic
  std::string coordinates = "half_pixel";  ///< coordinate_transformation_mode
  std::string rounding =
      "round_prefer_floor";  ///< nearest_mode; "simple" is what came before opset 11
  double cubic_coefficient = -0.75;
  bool excludes_outside = false;  ///< else the border repeats
  bool antialiases = false;
};

struct ResampleAxis {
  std::int64_t input = 1;
  std::int64_t output = 1;
  double scale = 1;
  double roi_begin = 0, roi_end = 1;  ///< tf_crop_and_resize only
};

struct ResampleTap {
  std::int64_t position = 0;
  double weight = 0;
};

struct ResampledPosition {
  std::vector<ResampleTap> taps;
  bool is_outside = false;  ///< tf_crop_and_resize: gets the extrapolation value
};

/// Keys' cubic convolution kernel: the weight of an element `x` away; zero from 2 on. `a` is usually -0.75 or -0.5.
double cubic_weight(double x, double a);

/// One entry per output position. Throws Error(kModel) on an unknown word.
std::vector<ResampledPosition> resample_table(const ResampleMode& mode, const ResampleAxis& axis);

/// Applies a table along one axis of a dense tensor.
std::vector<double> resample(const std::vector<double>& values, const Shape& shape,
                             std::size_t axis, const std::vector<ResampledPosition>& table);

}  // namespace aoe::reference
