// Output sizes and padding of convolutions and pools, as ONNX defines them.
#include "reference/windows/window.h"

#include <algorithm>

#include "base/ceil_div.h"
#include "base/size.h"
#include "reference/fail.h"
#include "reference/tensors/axes.h"

namespace aoe::reference {
namespace {

constexpr std::size_t kMaxSpatialRank = 3;

/// The greatest integer that is at most a / b, for b > 0.
std::int64_t floor_div(std::int64_t a, std::int64_t b) {
  return a >= 0 ? a / b : -ceil_div(-a, b);
}

bool is_same(const std::string& auto_pad) {
  return auto_pad == "SAME_UPPER" || auto_pad == "SAME_LOWER";
}

/// Splits the padding; SAME_UPPER puts the odd element at the end, SAME_LOWER at the beginning.
void split_padding(WindowAxis& axis, std::int64_t total, const std::string& auto_pad) {
  total = std::max<std::int64_t>(total, 0);
  axis.pad_begin = auto_pad == "SAME_UPPER" ? total / 2 : total - total / 2;
  axis.pad_end = total - axis.pad_begin;
}

std::vector<std::int64_t> per_axis(const Attrs& attrs, const std::string& name, std::size_t count,
                                   std::int64_t fallback) {
  auto values = attrs.get_ints(name, std::vector<std::int64_t>(count, fallback));
  if (values.size() != count) {
    fail_model("attribute " + name + " has " + std::to_string(values.size()) + " values, needs " +
               std::to_string(count));
  }
  return values;
}

std::string checked_auto_pad(const Attrs& attrs) {
  std::string auto_pad = attrs.get_string("auto_pad", "NOTSET");
  if (auto_pad != "NOTSET" && auto_pad != "VALID" && !is_same(auto_pad)) {
    fail_model("auto_pad is \"" + auto_pad + "\", needs NOTSET, VALID, SAME_UPPER or SAME_LOWER");
  }
  return auto_pad;
}

/// Kernel, strides, dilations and explicit pads; the axes of the operator come last. `output` stays
/// open.
Window read_window(const Attrs& attrs, const Shape& input, std::span<const std::int64_t> kernel) {
  if (input.size() < 2 || input.size() > 2 + kMaxSpatialRank || kernel.size() != input.size() - 2) {
    fail_model("input " + to_string(input) + " with a " + std::to_string(kernel.size()) +
               "-dimensional kernel; needs N x C and one to three spatial axes");
  }
  Window window;
  window.rank = kernel.size();
  const auto strides = per_axis(attrs, "strides", window.rank, 1);
  const auto dilations = per_axis(attrs, "dilations", window.rank, 1);
  const auto pads = per_axis(attrs, "pads", 2 * window.rank, 0);
  const bool has_pads = checked_auto_pad(attrs) == "NOTSET";
  for (std::size_t i = 0; i < window.rank; ++i) {
    if (strides[i] < 1 || dilations[i] < 1) {
      fail_model("stride " + std::to_string(strides[i]) + ", dilation " +
                 std::to_string(dilations[i]) + ": both must be at least 1");
    }
    // reach(), and where it ends, are used without further checks.
    checked_sum(checked_product(kernel[i], dilations[i]),
                checked_sum(checked_sum(pads[i], pads[window.rank + i]), input[2 + i]));
    window.axes[kMaxSpatialRank - window.rank + i] = {
        .input = input[2 + i],
        .kernel = kernel[i],
        .stride = strides[i],
        .dilation = dilations[i],
        .pad_begin = has_pads ? pads[i] : 0,
        .pad_end = has_pads ? pads[window.rank + i] : 0};
  }
  return window;
}

/// Windows along one axis; with ceil_mode one that would start in the end padding does not count.
std::int64_t output_size(const WindowAxis& axis, bool is_ceil) {
  const std::int64_t span = axis.input + axis.pad_begin + axis.pad_end - axis.reach();
  if (span < 0) {
    fail_model("the kernel reaches over " + std::to_string(axis.reach()) +
               " elements, the padded input has " +
               std::to_string(axis.input + axis.pad_begin + axis.pad_end));
  }
  std::int64_t output = (is_ceil ? ceil_div(span, axis.stride) : span / axis.stride) + 1;
  if (is_ceil && (output - 1) * axis.stride >= axis.input + axis.pad_begin) --output;
  return output;
}

}  // namespace

std::string window_attributes(const std::string& others) {
  return "auto_pad=NOTSET|VALID|SAME_UPPER|SAME_LOWER strides=ints:1.. dilations=ints:1.. "
         "pads=ints:0.. " +
         others;
}

std::int64_t WindowAxis::padded_taps(std::int64_t o) const {
  std::int64_t count = 0;
  for (std::int64_t k = 0; k < kernel; ++k) count += tap(o, k) < input + pad_end ? 1 : 0;
  return count;
}

std::pair<std::int64_t, std::int64_t> WindowAxis::outputs_inside(std::int64_t k) const {
  const std::int64_t shift = pad_begin - k * dilation;
  const std::int64_t first = std::max<std::int64_t>(0, ceil_div(shift, stride));
  const std::int64_t last = std::min(output - 1, floor_div(input - 1 + shift, stride));
  return {first, std::max(first, last + 1)};
}

Shape Window::output_shape() const {
  Shape shape;
  for (std::size_t i = axes.size() - rank; i < axes.size(); ++i) shape.push_back(axes[i].output);
  return shape;
}

std::span<const std::int64_t> kernel_of(const Attrs& attrs, const Shape& weight) {
  const auto kernel = std::span(weight).subspan(std::min<std::size_t>(2, weight.size()));
  if (attrs.has("kernel_shape"))
    check_same_shape(attrs.get_ints("kernel_shape"), {kernel.begin(), kernel.end()},
                     "attribute 'kernel_shape'");
  return kernel;
}

Window window_of(const Attrs& attrs, const Shape& input, std::span<const std::int64_t> kernel) {
  Window window = read_window(attrs, input, kernel);
  const std::string auto_pad = attrs.get_string("auto_pad", "NOTSET");
  const bool is_ceil = attrs.get_int("ceil_mode", 0) != 0;
  for (std::size_t i = window.axes.size() - window.rank; i < window.axes.size(); ++i) {
    WindowAxis& axis = window.axes[i];
    if (axis.input == kUnknownDim || axis.kernel == kUnknownDim) {
      axis.output = kUnknownDim;
    } else if (is_same(auto_pad)) {
      axis.output = ceil_div(axis.input, axis.stride);
      split_padding(axis, (axis.output - 1) * axis.stride + axis.reach() - axis.input, auto_pad);
    } else {
      axis.output = output_size(axis, is_ceil);
    }
  }
  return window;
}

Window transposed_window_of(const Attrs& attrs, const Shape& input,
                            std::span<const std::int64_t> kernel) {
  Window window = read_window(attrs, input, kernel);
  const std::string auto_pad = attrs.get_string("auto_pad", "NOTSET");
  const auto extra = per_axis(attrs, "output_padding", window.rank, 0);
  const bool has_sizes = !attrs.get_ints("output_shape").empty();
  const auto sizes = has_sizes ? per_axis(attrs, "output_shape", window.rank, 0) : Shape{};
  for (std::size_t i = 0; i < window.rank; ++i) {
    WindowAxis& axis = window.axes[window.axes.size() - window.rank + i];
    axis.output = std::exchange(axis.input, kUnknownDim);
    if (axis.output == kUnknownDim || axis.kernel == kUnknownDim) {
      if (has_sizes) axis.input = sizes[i];
      continue;
    }
    checked_product(axis.stride, axis.output);
    const std::int64_t unpadded = axis.stride * (axis.output - 1) + extra[i] + axis.reach();
    if (has_sizes || is_same(auto_pad)) {
      axis.input = has_sizes ? sizes[i] : axis.output * axis.stride;
      split_padding(axis, unpadded - axis.input, auto_pad);
    } else {
      axis.input = unpadded - axis.pad_begin - axis.pad_end;
    }
    if (axis.input < 0) {
      fail_model("padding leaves an output of " + std::to_string(axis.input) + " elements");
    }
  }
  return window;
}

}  // namespace aoe::reference
