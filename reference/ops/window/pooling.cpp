// MaxPoolV3, AvgPoolV2, LpPool: sliding windows over one to three spatial axes.
#include <cmath>
#include <limits>

#include "reference/elements/doubles.h"
#include "reference/fail.h"
#include "reference/op.h"
#include "reference/tensors/widen.h"
#include "reference/windows/window.h"

namespace aoe::reference {
namespace {

Window pooling_window(const Attrs& attrs, const Shape& x, const Shape& = {}) {
  const auto kernel = attrs.get_ints("kernel_shape");
  return window_of(attrs, x, kernel);
}

std::vector<TensorDesc> infer_pool(const InferContext& context) {
  Shape y = {context.shape(0).at(0), context.shape(0).at(1)};
  for (std::int64_t size : pooling_window(context.attrs, context.shape(0)).output_shape()) {
    y.push_back(size);
  }
  std::vector<TensorDesc> outputs = {{.dtype = context.dtype(0), .shape = y}};
  if (context.output_count > 1) outputs.push_back({.dtype = DataType::kInt64, .shape = y});
  return outputs;
}

struct Tap {
  std::int64_t depth = 0, height = 0, width = 0;
};

/// Calls visit(tap) for each tap of the window at `o` that lies inside the input.
template <typename Visit>
void for_each_tap(const Window& window, const Tap& o, Visit visit) {
  const auto& [d, h, w] = window.axes;
  for (std::int64_t kd = 0; kd < d.kernel; ++kd) {
    const std::int64_t id = d.tap(o.depth, kd);
    if (!d.is_inside(id)) continue;
    for (std::int64_t kh = 0; kh < h.kernel; ++kh) {
      const std::int64_t ih = h.tap(o.height, kh);
      if (!h.is_inside(ih)) continue;
      for (std::int64_t kw = 0; kw < w.kernel; ++kw) {
        const std::int64_t iw = w.tap(o.width, kw);
        if (w.is_inside(iw)) visit(Tap{id, ih, iw});
      }
    }
  }
}

/// Calls visit(plane, o, y_index) for every window of every plane, in the order of the output.
template <typename Visit>
void for_each_window(const Window& window, std::int64_t planes, Visit visit) {
  const auto& [d, h, w] = window.axes;
  std::int64_t y_index = 0;
  for (std::int64_t plane = 0; plane < planes; ++plane) {
    for (std::int64_t od = 0; od < d.output; ++od) {
      for (std::int64_t oh = 0; oh < h.output; ++oh) {
        for (std::int64_t ow = 0; ow < w.output; ++ow) visit(plane, Tap{od, oh, ow}, y_index++);
      }
    }
  }
}

std::int64_t row_major(const Window& window, const Tap& tap) {
  return (tap.depth * window.height().input + tap.height) * window.width().input + tap.width;
}

std::int64_t column_major(const Window& window, const Tap& tap) {
  return (tap.width * window.height().input + tap.height) * window.depth().input + tap.depth;
}

void compute_max_pool(const OpContext& context) {
  const Shape& shape = context.inputs[0].desc.shape;
  const Window window = pooling_window(context.attrs, shape);
  const bool is_column_major = context.attrs.get_int("storage_order", 0) != 0;
  const auto x = to_doubles(context.inputs[0]);
  std::vector<double> y = doubles(static_cast<std::size_t>(context.outputs[0].elements()));
  std::vector<std::int64_t> indices(y.size());
  for_each_window(
      window, shape[0] * shape[1], [&](std::int64_t plane, const Tap& o, std::int64_t i) {
        const std::int64_t base = plane * window.input_elements();
        double best = -std::numeric_limits<double>::infinity();
        Tap where;
        for_each_tap(window, o, [&](const Tap& tap) {
          const double value = x[static_cast<std::size_t>(base + row_major(window, tap))];
          if (value > best || std::isnan(value)) best = value, where = tap;
        });
        y[static_cast<std::size_t>(i)] = best;
        indices[static_cast<std::size_t>(i)] =
            base + (is_column_major ? column_major(window, where) : row_major(window, where));
      });
  if (context.has_output(0)) from_doubles(y, context.outputs[0]);
  if (context.has_output(1)) from_int64s(indices, context.outputs[1]);
}

void compute_average_pool(const OpContext& context) {
  const Shape& shape = context.inputs[0].desc.shape;
  const Window window = pooling_window(context.attrs, shape);
  const bool counts_padding = context.attrs.get_int("count_include_pad", 0) != 0;
  const auto x = to_doubles(context.inputs[0]);
  std::vector<double> y = doubles(static_cast<std::size_t>(context.outputs[0].elements()));
  for_each_window(
      window, shape[0] * shape[1], [&](std::int64_t plane, const Tap& o, std::int64_t i) {
        const std::int64_t base = plane * window.input_elements();
        double sum = 0;
        std::int64_t count = 0;
        for_each_tap(window, o, [&](const Tap& tap) {
          sum += x[static_cast<std::size_t>(base + row_major(window, tap))];
          ++count;
        });
        if (counts_padding) {
          count = window.depth().padded_taps(o.depth) * window.height().padded_taps(o.height) *
                  window.width().padded_taps(o.width);
        }
        y[static_cast<std::size_t>(i)] = count == 0 ? 0 : sum / static_cast<double>(count);
      });
  from_doubles(y, context.outputs[0]);
}

void compute_lp_pool(const OpContext& context) {
  const Shape& shape = context.inputs[0].desc.shape;
  const Window window = pooling_window(context.attrs, shape);
  const auto p = static_cast<double>(context.attrs.get_int("p", 2));
  const auto x = to_doubles(context.inputs[0]);
  std::vector<double> y = doubles(static_cast<std::size_t>(context.outputs[0].elements()));
  for_each_window(
      window, shape[0] * shape[1], [&](std::int64_t plane, const Tap& o, std::int64_t i) {
        const std::int64_t base = plane * window.input_elements();
        double sum = 0;
        for_each_tap(window, o, [&](const Tap& tap) {
          sum += std::pow(std::abs(x[static_cast<std::size_t>(base + row_major(window, tap))]), p);
        });
        y[static_cast<std::size_t>(i)] = std::pow(sum, 1 / p);
      });
  from_doubles(y, context.outputs[0]);
}

}  // namespace

void register_pooling(OpRegistry& registry) {
  registry.add(
      {.type = "MaxPoolV3",
       .onnx_type = "MaxPool",
       .signature = {"n:3-5",
                     window_attributes("!kernel_shape=ints:1.. ceil_mode=0..1 storage_order=0..1")},
       .kind = OpKind::kWindow,
       .infer = infer_pool,
       .compute = compute_max_pool,
       .window = pooling_window,
       .has_image_formats = true,
       .is_per_image = true});
  registry.add(
      {.type = "AvgPoolV2",
       .onnx_type = "AveragePool",
       .signature = {"f:3-5", window_attributes(
                                  "!kernel_shape=ints:1.. ceil_mode=0..1 count_include_pad=0..1")},
       .kind = OpKind::kWindow,
       .infer = infer_pool,
       .compute = compute_average_pool,
       .window = pooling_window,
       .has_image_formats = true,
       .is_per_image = true});
  registry.add(
      {.type = "LpPool",
       .signature = {"f:3-5", window_attributes("!kernel_shape=ints:1.. ceil_mode=0..1 p=1..")},
       .kind = OpKind::kWindow,
       .infer = infer_pool,
       .compute = compute_lp_pool});
}

}  // namespace aoe::reference
