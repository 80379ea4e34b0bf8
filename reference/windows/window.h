// Window: the geometry that convolutions and pools share. Kernel, stride, dilation and padding
// along each spatial axis.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <utility>

#include "base/tensor.h"
#include "reference/attrs.h"

namespace aoe::reference {

/// Of the signature of an operator: what window_of() reads, and `others`.
std::string window_attributes(const std::string& others);

struct WindowAxis {
  std::int64_t input = 1;
  std::int64_t output = 1;
  std::int64_t kernel = 1;
  std::int64_t stride = 1;
  std::int64_t dilation = 1;
  std::int64_t pad_begin = 0;
  std::int64_t pad_end = 0;

  /// Input elements from the first to the last tap of one window.
  std::int64_t reach() const { return (kernel - 1) * dilation + 1; }
  /// Where tap `k` of window `o` falls; outside [0, input) in the padding.
  std::int64_t tap(std::int64_t o, std::int64_t k) const {
    return o * stride - pad_begin + k * dilation;
  }
  bool is_inside(std::int64_t i) const { return i >= 0 && i < input; }
  /// How many taps of window `o` fall on the input or its explicit padding (ceil_mode may reach beyond both).
  std::int64_t padded_taps(std::int64_t o) const;
  /// The windows [first, second) whose tap `k` falls inside the input.
  std::pair<std::int64_t, std::int64_t> outputs_inside(std::int64_t k) const;
};

/// Always three axes, so that one loop nest serves 1-, 2- and 3-dimensional operators: the leading
/// ones are trivial.
struct Window {
  std::array<WindowAxis, 3> axes;
  std::size_t rank = 0;  ///< how many of them, counted from the back, the operator really has

  const WindowAxis& depth() const { return axes[0]; }
  const WindowAxis& height() const { return axes[1]; }
  const WindowAxis& width() const { return axes[2]; }
  std::int64_t input_elements() const { return axes[0].input * axes[1].input * axes[2].input; }
  std::int64_t output_elements() const { return axes[0].output * axes[1].output * axes[2].output; }
  std::int64_t kernel_elements() const { return axes[0].kernel * axes[1].kernel * axes[2].kernel; }
  /// The spatial part of the output's shape; kUnknownDim where the input's or the kernel's is.
  Shape output_shape() const;
};

/// The spatial dimensions of a convolution's weight. Throws Error(kModel) when the attribute kernel_shape contradicts
/// them.
std::span<const std::int64_t> kernel_of(const Attrs& attrs, const Shape& weight);

/// From ONNX attributes (strides, dilations, pads, auto_pad, ceil_mode) and the input's shape
/// N,C,spatial... Throws Error(kModel) on more than three spatial axes and on attributes that do
/// not fit the rank.
Window window_of(const Attrs& attrs, const Shape& input, std::span<const std::int64_t> kernel);

/// The window of a transposed convolution seen backwards: `output` is the transposed operator's
/// input, `input` its output (attributes output_padding and output_shape). tap() then says where an
/// input element scatters to.
Window transposed_window_of(const Attrs& attrs, const Shape& input,
                            std::span<const std::int64_t> kernel);

}  // namespace aoe::reference
