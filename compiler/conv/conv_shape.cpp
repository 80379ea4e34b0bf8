// Reads a convolution's attributes (ONNX names and defaults) into a ConvShape.
#include "compiler/conv/conv_shape.h"

#include <algorithm>

namespace aoe::compiler {
namespace {

struct Padding {
  std::int64_t begin = 0, end = 0;
};

/// `total` elements split as auto_pad asks: the odd one goes to the end for SAME_UPPER.
Padding split_padding(std::int64_t total, const std::string& auto_pad) {
  total = std::max<std::int64_t>(total, 0);
  const std::int64_t less = total / 2;
  return auto_pad == "SAME_UPPER" ? Padding{less, total - less} : Padding{total - less, less};
}

std::int64_t at_or(const std::vector<std::int64_t>& values, std::size_t i, std::int64_t fallback) {
  return i < values.size() ? values[i] : fallback;
}

/// Elements that a padded convolution reads along one axis beyond those that exist.
std::int64_t total_padding(const ConvShape& s, bool vertical) {
  const std::int64_t kernel = vertical ? s.kernel_height : s.kernel_width;
  const std::int64_t dilation = vertical ? s.dilation_height : s.dilation_width;
  const std::int64_t stride = vertical ? s.stride_height : s.stride_width;
  const std::int64_t in = vertical ? s.in_height : s.in_width;
  const std::int64_t out = vertical ? s.out_height : s.out_width;
  const std::int64_t reach = (kernel - 1) * dilation + 1;
  return s.is_transposed ? (in - 1) * stride + reach - out : (out - 1) * stride + reach - in;
}

}  // namespace

bool ConvShape::is_pointwise() const {
  return kernel_height == 1 && kernel_width == 1 && stride_height == 1 && stride_width == 1 &&
         !has_padding();
}

double ConvShape::weight_elements() const {
  return static_cast<double>(in_channels) * static_cast<double>(out_channels) /
         static_cast<double>(groups) * static_cast<double>(kernel_height * kernel_width);
}

WindowAxis ConvShape::row_axis() const {
  return {.in = in_height,
          .out = out_height,
          .kernel = kernel_height,
          .stride = stride_height,
          .dilation = dilation_height,
          .pad_begin = pad_top};
}

WindowAxis ConvShape::column_axis() const {
  return {.in = in_width,
          .out = out_width,
          .kernel = kernel_width,
          .stride = stride_width,
          .dilation = dilation_width,
          .pad_begin = pad_left};
}

double ConvShape::flops() const {
  const std::int64_t pixels = is_transposed ? in_height * in_width : out_pixels();
  return 2.0 * static_cast<double>(batch * pixels) * weight_elements();
}

double ConvShape::input_elements() const {
  return static_cast<double>(batch * in_channels) * static_cast<double>(in_height * in_width);
}

double ConvShape::output_elements() const {
  return static_cast<double>(batch * out_channels) * static_cast<double>(out_pixels());
}

Result<ConvShape> conv_shape(const Task& task) {
  ConvShape s;
  s.is_transposed = task.op.type == "Conv2DTranspose";
  const bool is_quantised = task.op.type == "QuantConv2D";
  if (task.op.type != "Conv2D" && !is_quantised && !s.is_transposed) {
    return Unexpected(task.op.type + " is not a convolution");
  }
  if (!task.is_static()) return Unexpected("shapes are not static");
  const Shape &x = task.in(0).shape, &w = task.in(1).shape, &y = task.out().shape;
  if (x.size() != 4 || w.size() != 4 || y.size() != 4) {
    return Unexpected(std::to_string(x.size()) + "-dimensional input, needs 4");
  }
  const reference::Attrs& attrs = task.op.attrs;
  s.groups = attrs.get_int("group", 1);
  s.input_shuffle = attrs.get_int("input_shuffle", 1);
  s.batch = x[0];
  s.in_channels = x[1];
  s.in_height = x[2];
  s.in_width = x[3];
  s.out_channels = y[1];
  s.out_height = y[2];
  s.out_width = y[3];
  s.kernel_height = w[2];
  s.kernel_width = w[3];
  const auto strides = attrs.get_ints("strides"), dilations = attrs.get_ints("dilations");
  s.stride_height = at_or(strides, 0, 1);
  s.stride_width = at_or(strides, 1, 1);
  s.dilation_height = at_or(dilations, 0, 1);
  s.dilation_width = at_or(dilations, 1, 1);
  if (element_count(x) == 0 || element_count(w) == 0 || element_count(y) == 0) {
    return Unexpected("empty tensor " + aoe::to_string(x) + " -> " + aoe::to_string(y));
  }

  const std::string auto_pad = attrs.get_string("auto_pad", "NOTSET");
  if (auto_pad == "SAME_UPPER" || auto_pad == "SAME_LOWER") {
    const Padding rows = split_padding(total_padding(s, true), auto_pad);
    const Padding columns = split_padding(total_padding(s, false), auto_pad);
    s.pad_top = rows.begin, s.pad_bottom = rows.end;
    s.pad_left = columns.begin, s.pad_right = columns.end;
  } else if (auto_pad != "VALID") {
    const auto pads = attrs.get_ints("pads");
    s.pad_top = at_or(pads, 0, 0), s.pad_left = at_or(pads, 1, 0);
    s.pad_bottom = at_or(pads, 2, 0), s.pad_right = at_or(pads, 3, 0);
  }
  const int anchor_inputs =
      task.op.anchor_inputs < 0 ? static_cast<int>(task.inputs.size()) : task.op.anchor_inputs;
  s.has_bias = anchor_inputs > 2 && task.inputs[2].is_present();
  return s;
}

std::string to_string(const ConvShape& s) {
  const auto pair = [](std::int64_t a, std::int64_t b) {
    return std::to_string(a) + "x" + std::to_string(b);
  };
  return std::to_string(s.in_channels) + "x" + pair(s.in_height, s.in_width) + " -> " +
         std::to_string(s.out_channels) + "x" + pair(s.out_height, s.out_width) + ", kernel " +
         pair(s.kernel_height, s.kernel_width) + ", stride " +
         pair(s.stride_height, s.stride_width) + ", groups " + std::to_string(s.groups);
}

}  // namespace aoe::compiler
