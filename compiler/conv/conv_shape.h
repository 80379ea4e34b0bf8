// ConvShape: a 2-D convolution as plain numbers, read from a Task's shapes and attributes. What
// every convolution Impl starts from, so that padding modes and defaults are understood in one
// place.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "compiler/conv/pixel_blocks.h"
#include "compiler/task.h"

namespace aoe::compiler {

struct ConvShape {
  std::int64_t batch = 1;
  std::int64_t groups = 1;
  std::int64_t in_channels = 0, out_channels = 0;  ///< of all groups together
  std::int64_t in_height = 0, in_width = 0;
  std::int64_t out_height = 0, out_width = 0;
  std::int64_t kernel_height = 1, kernel_width = 1;
  std::int64_t stride_height = 1, stride_width = 1;
  std::int64_t dilation_height = 1, dilation_width = 1;
  std::int64_t pad_top = 0, pad_left = 0, pad_bottom = 0, pad_right = 0;
  bool is_transposed = false;  ///< Conv2DTranspose: pads are cut from the output
  /// Channel c of what is convolved is channel (c mod g) * (C / g) + c / g of the input; 1: no
  /// shuffle. Impls that do not read so must refuse it.
  std::int64_t input_shuffle = 1;
  bool has_bias = false;  ///< input 2 is present and belongs to the convolution

  std::int64_t group_in_channels() const { return in_channels / groups; }
  std::int64_t group_out_channels() const { return out_channels / groups; }
  std::int64_t out_pixels() const { return out_height * out_width; }
  /// Rows and columns that all windows together reach over, padding included.
  std::int64_t reached_rows() const {
    return (out_height - 1) * stride_height + (kernel_height - 1) * dilation_height + 1;
  }
  std::int64_t reached_columns() const {
    return (out_width - 1) * stride_width + (kernel_width - 1) * dilation_width + 1;
  }
  bool is_depthwise() const { return groups == in_channels && groups == out_channels; }
  bool has_padding() const {
    return pad_top != 0 || pad_left != 0 || pad_bottom != 0 || pad_right != 0;
  }
  /// 1x1, stride 1, no padding: output pixel i depends on input pixel i only.
  bool is_pointwise() const;
  WindowAxis row_axis() const;
  WindowAxis column_axis() const;
  double flops() const;
  double input_elements() const;
  double output_elements() const;
  double weight_elements() const;
};

/// Reads "Conv2D", "QuantConv2D" or "Conv2DTranspose" with static shapes and two spatial dimensions; the reason
/// why not otherwise.
Result<ConvShape> conv_shape(const Task& task);

/// "64x56x56 -> 64x56x56, kernel 3x3, stride 1x1, groups 1" for logs and refusals.
std::string to_string(const ConvShape& shape);

}  // namespace aoe::compiler
