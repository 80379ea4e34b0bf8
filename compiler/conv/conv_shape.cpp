// A convolution's window, as its operator parses it, beside the numbers of its shapes.
#include "compiler/conv/conv_shape.h"

namespace aoe::compiler {
bool ConvShape::is_pointwise() const {
  return kernel_height == 1 && kernel_width == 1 && stride_height == 1 && stride_width == 1 &&
         !has_padding();
}

double ConvShape::weight_elements() const {
  return static_cast<double>(in_channels) * static_cast<double>(out_channels) /
         static_cast<double>(groups) * static_cast<double>(kernel_height * kernel_width);
}

WindowAxis ConvShape::row_axis() const {
  return {.input = in_height,
          .output = out_height,
          .kernel = kernel_height,
          .stride = stride_height,
          .dilation = dilation_height,
          .pad_begin = pad_top};
}

WindowAxis ConvShape::column_axis() const {
  return {.input = in_width,
          .output = out_width,
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
  s.is_transposed = task.anchor().type == "Conv2DTranspose";
  if (!reference::is_kind(task.anchor().type, reference::OpKind::kConvolution) ||
      reference::epilogue_of(task.anchor().type) == reference::Epilogue::kNone)
    return Unexpected(task.anchor().type + " is not a convolution");
  if (!task.is_static()) return Unexpected("shapes are not static");
  const Shape &x = task.in(0).shape, &w = task.in(1).shape, &y = task.out().shape;
  if (x.size() != 4 || w.size() != 4 || y.size() != 4) {
    return Unexpected(std::to_string(x.size()) + "-dimensional input, needs 4");
  }
  const reference::Attrs& attrs = task.anchor().attrs;
  s.groups = attrs.get_int("group", 1);
  s.input_shuffle = attrs.get_int("input_shuffle", 1);
  s.batch = x[0];
  s.in_channels = x[1];
  s.in_height = x[2];
  s.in_width = x[3];
  s.out_channels = y[1];
  s.out_height = y[2];
  s.out_width = y[3];
  if (element_count(x) == 0 || element_count(w) == 0 || element_count(y) == 0) {
    return Unexpected("empty tensor " + aoe::to_string(x) + " -> " + aoe::to_string(y));
  }

  const reference::Window window = reference::window_of(task.anchor().type, attrs, x, w).value();
  const reference::WindowAxis &rows = window.height(), &columns = window.width();
  s.kernel_height = rows.kernel, s.kernel_width = columns.kernel;
  s.stride_height = rows.stride, s.stride_width = columns.stride;
  s.dilation_height = rows.dilation, s.dilation_width = columns.dilation;
  s.pad_top = rows.pad_begin, s.pad_bottom = rows.pad_end;
  s.pad_left = columns.pad_begin, s.pad_right = columns.pad_end;
  s.has_bias = task.anchor_inputs() > 2 && task.inputs[2].is_present();
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
