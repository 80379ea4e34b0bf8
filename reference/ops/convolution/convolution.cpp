// Conv2D, ConvInteger, QLinearConv: convolution over one to three spatial axes, with groups,
// strides and dilations. Conv2D may read its input shuffled: with the attribute input_shuffle = g,
// of our own, channel c of what it convolves is channel (c mod g) * (C / g) + c / g of its input. The inner loop walks a row of the output, so that the compiler vectorises
// it.
#include <algorithm>

#include "base/size.h"
#include "reference/elements/doubles.h"
#include "reference/fail.h"
#include "reference/op.h"
#include "reference/slicing.h"
#include "reference/tensors/axes.h"
#include "reference/tensors/quantize.h"
#include "reference/tensors/widen.h"
#include "reference/windows/window.h"

namespace aoe::reference {
namespace {

Window convolution_window(const Attrs& attrs, const Shape& x, const Shape& weight) {
  return window_of(attrs, x, kernel_of(attrs, weight));
}

Shape output_shape(const Attrs& attrs, const Shape& x, const Shape& weight) {
  const Window window = convolution_window(attrs, x, weight);
  const std::int64_t groups = attrs.get_int("group", 1);
  checked_product(weight[1], groups);
  if (x[1] != kUnknownDim && weight[1] != kUnknownDim && x[1] != weight[1] * groups) {
    fail_model("input has " + std::to_string(x[1]) + " channels, weight " + to_string(weight) +
               " in " + std::to_string(groups) + " groups needs " +
               std::to_string(weight[1] * groups));
  }
  const std::int64_t shuffle = attrs.get_int("input_shuffle", 1);
  if (shuffle < 1 || (x[1] != kUnknownDim && x[1] % shuffle != 0))
    fail_model(std::to_string(x[1]) + " channels do not shuffle in " + std::to_string(shuffle));
  if (groups < 1 || (weight[0] != kUnknownDim && weight[0] % groups != 0)) {
    fail_model(std::to_string(weight[0]) + " output channels do not divide into " +
               std::to_string(groups) + " groups");
  }
  Shape y = {x[0], weight[0]};
  for (std::int64_t size : window.output_shape()) y.push_back(size);
  return y;
}

/// y (one output plane) += x (one input plane) convolved with one kernel.
void accumulate_plane(const Window& window, const double* x, const double* kernel, double* y) {
  const auto& [d, h, w] = window.axes;
  for (std::int64_t kd = 0; kd < d.kernel; ++kd) {
    const auto [od_begin, od_end] = d.outputs_inside(kd);
    for (std::int64_t kh = 0; kh < h.kernel; ++kh) {
      const auto [oh_begin, oh_end] = h.outputs_inside(kh);
      for (std::int64_t kw = 0; kw < w.kernel; ++kw) {
        const auto [ow_begin, ow_end] = w.outputs_inside(kw);
        const std::int64_t shift = w.tap(0, kw), stride = w.stride;
        const double factor = kernel[(kd * h.kernel + kh) * w.kernel + kw];
        for (std::int64_t od = od_begin; od < od_end; ++od) {
          for (std::int64_t oh = oh_begin; oh < oh_end; ++oh) {
            const double* from = x + (d.tap(od, kd) * h.input + h.tap(oh, kh)) * w.input;
            double* to = y + (od * h.output + oh) * w.output;
            for (std::int64_t ow = ow_begin; ow < ow_end; ++ow) {
              to[ow] += factor * from[ow * stride + shift];
            }
          }
        }
      }
    }
  }
}

std::vector<double> convolve(const Attrs& attrs, const Shape& x_shape, const Shape& w_shape,
                             const std::vector<double>& x, const std::vector<double>& weight) {
  const Window window = convolution_window(attrs, x_shape, w_shape);
  const std::int64_t in_channels = x_shape[1], out_channels = w_shape[0], group_in = w_shape[1];
  const std::int64_t group_out = out_channels / attrs.get_int("group", 1);
  const std::int64_t shuffle = attrs.get_int("input_shuffle", 1);
  const std::int64_t in_plane = window.input_elements(), out_plane = window.output_elements();
  std::vector<double> y = doubles(static_cast<std::size_t>(x_shape[0] * out_channels * out_plane));
  for (std::int64_t n = 0; n < x_shape[0]; ++n) {
    for (std::int64_t oc = 0; oc < out_channels; ++oc) {
      for (std::int64_t i = 0; i < group_in; ++i) {
        const std::int64_t ic = oc / group_out * group_in + i;
        const std::int64_t from = ic % shuffle * (in_channels / shuffle) + ic / shuffle;
        accumulate_plane(window, x.data() + (n * in_channels + from) * in_plane,
                         weight.data() + (oc * group_in + i) * window.kernel_elements(),
                         y.data() + (n * out_channels + oc) * out_plane);
      }
    }
  }
  return y;
}

/// Calls visit(channel, value) for every element of an N,C,spatial... buffer.
template <typename Visit>
void for_each_with_channel(std::vector<double>& values, const Shape& shape, Visit visit) {
  const std::int64_t channels = shape[1];
  const std::int64_t plane = element_count(Shape(shape.begin() + 2, shape.end()));
  double* value = values.data();
  for (std::int64_t n = 0; n < shape[0]; ++n) {
    for (std::int64_t c = 0; c < channels; ++c) {
      for (std::int64_t i = 0; i < plane; ++i) visit(c, *value++);
    }
  }
}

std::vector<TensorDesc> infer_conv(const InferContext& context) {
  if (context.has_input(2)) check_vector(context.shape(2), context.shape(1).at(0), "the bias");
  return {{.dtype = context.dtype(0),
           .shape = output_shape(context.attrs, context.shape(0), context.shape(1))}};
}

void compute_conv(const OpContext& context) {
  const Tensor &x = context.inputs[0], &weight = context.inputs[1];
  auto y =
      convolve(context.attrs, x.desc.shape, weight.desc.shape, to_doubles(x), to_doubles(weight));
  if (context.has_input(2)) {
    const auto bias = to_doubles(context.inputs[2]);
    for_each_with_channel(y, context.outputs[0].desc.shape, [&](std::int64_t c, double& value) {
      value += bias[static_cast<std::size_t>(c)];
    });
  }
  from_doubles(y, context.outputs[0]);
}

/// Input elements less their zero point. Padding then is plain zero.
std::vector<double> centred(const Tensor& x, double zero_point) {
  auto values = to_doubles(x);
  for (double& value : values) value -= zero_point;
  return values;
}

/// Weights less the zero point of their output channel.
std::vector<double> centred_weights(const Tensor& weight, const std::vector<double>& zero_points) {
  auto values = to_doubles(weight);
  const std::size_t per_channel =
      values.size() / static_cast<std::size_t>(std::max<std::int64_t>(1, weight.desc.shape[0]));
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] -= parameter_at(zero_points, static_cast<std::int64_t>(i / per_channel));
  }
  return values;
}

std::vector<TensorDesc> infer_conv_integer(const InferContext& context) {
  return {{.dtype = DataType::kInt32,
           .shape = output_shape(context.attrs, context.shape(0), context.shape(1))}};
}

void compute_conv_integer(const OpContext& context) {
  const Tensor &x = context.inputs[0], &weight = context.inputs[1];
  const auto x_zero = quant_parameter(context.inputs, 2, 0);
  const auto w_zero = quant_parameter(context.inputs, 3, 0);
  from_doubles(convolve(context.attrs, x.desc.shape, weight.desc.shape, centred(x, x_zero[0]),
                        centred_weights(weight, w_zero)),
               context.outputs[0]);
}

std::vector<TensorDesc> infer_qlinear_conv(const InferContext& context) {
  const std::int64_t channels = context.shape(3).at(0);
  if (context.has_input(8)) check_vector(context.shape(8), channels, "the bias");
  for (const std::size_t i : {4, 5})
    if (element_count(context.shape(i)) != 1)
      check_vector(context.shape(i), channels, "input " + std::to_string(i));
  return {{.dtype = context.dtype(7),
           .shape = output_shape(context.attrs, context.shape(0), context.shape(3))}};
}

void compute_qlinear_conv(const OpContext& context) {
  const Tensor &x = context.inputs[0], &weight = context.inputs[3], &y = context.outputs[0];
  const double x_scale = to_double(context.inputs[1]);
  const double x_zero = to_double(context.inputs[2]);
  const auto w_scale = to_doubles(context.inputs[4]), w_zero = to_doubles(context.inputs[5]);
  const double y_scale = to_double(context.inputs[6]);
  const double y_zero = to_double(context.inputs[7]);
  const auto bias = quant_parameter(context.inputs, 8, 0);
  const QuantRange range = quant_range(y.desc.dtype);
  auto sums = convolve(context.attrs, x.desc.shape, weight.desc.shape, centred(x, x_zero),
                       centred_weights(weight, w_zero));
  for_each_with_channel(sums, y.desc.shape, [&](std::int64_t c, double& value) {
    const float multiplier = requantize_multiplier(x_scale, parameter_at(w_scale, c), y_scale);
    value = quantize(rescale(value + parameter_at(bias, c), multiplier), y_zero, range);
  });
  from_doubles(sums, y);
}

std::vector<TensorDesc> infer_quant_conv(const InferContext& context) {
  return {{.dtype = DataType::kFloat,
           .shape = output_shape(context.attrs, context.shape(0), context.shape(1))}};
}

/// x, weight, bias, zero points of x and weight, multiplier: (sum of integer products + bias) * multiplier.
void compute_quant_conv(const OpContext& context) {
  const Tensor &x = context.inputs[0], &weight = context.inputs[1], &y = context.outputs[0];
  const auto bias = quant_parameter(context.inputs, 2, 0);
  const double x_zero = quant_parameter(context.inputs, 3, 0)[0];
  const auto w_zero = quant_parameter(context.inputs, 4, 0);
  const auto multiplier = to_doubles(context.inputs[5]);
  auto sums = convolve(context.attrs, x.desc.shape, weight.desc.shape, centred(x, x_zero),
                       centred_weights(weight, w_zero));
  for_each_with_channel(sums, y.desc.shape, [&](std::int64_t c, double& value) {
    value = rescale(value + parameter_at(bias, c), static_cast<float>(parameter_at(multiplier, c)));
  });
  from_doubles(sums, y);
}

/// For each element of the output, two for each weight of its channel.
double products_with(const CostContext& cost, std::size_t weights) {
  const double channels = std::max(1.0, static_cast<double>(cost.inputs[weights].shape[0]));
  return 2.0 * cost.input_elements(weights) / channels * cost.output_elements();
}

double products_per_output(const CostContext& cost) {
  return products_with(cost, 1);
}

double qlinear_products(const CostContext& cost) {
  return products_with(cost, 3);
}

}  // namespace

void register_convolution(OpRegistry& registry) {
  registry.add(
      {.type = "Conv2D",
       .onnx_type = "Conv",
       .signature = {"f1:3-5 f1:3-5 f1?:1", window_attributes("kernel_shape=ints:1.. group=1..")},
       .kind = OpKind::kConvolution,
       .infer = infer_conv,
       .compute = compute_conv,
       .flops = products_per_output,
       .min_inputs = 2,
       .window = convolution_window,
       .epilogue = Epilogue::kFloat,
       .has_image_formats = true,
       .is_per_image = true,
       .factors = 2,
       .has_faster_sums = true});
  registry.add({.type = "ConvInteger",
                .versions = {10},
                .signature = {"q:3-5 q:3-5 q?:0-1 q?:0-1",
                              window_attributes("kernel_shape=ints:1.. group=1..")},
                .kind = OpKind::kConvolution,
                .infer = infer_conv_integer,
                .compute = compute_conv_integer,
                .flops = products_per_output,
                .min_inputs = 2,
                .slices = images_apart,
                .free_values = {1, 2}});
  registry.add({.type = "QLinearConv",
                .versions = {10},
                .signature = {"q:3-5 f:0-1 q:0-1 q:3-5 f:0-1 q:0-1 f:0-1 q:0-1 x?:1",
                              window_attributes("kernel_shape=ints:1.. group=1..")},
                .kind = OpKind::kConvolution,
                .infer = infer_qlinear_conv,
                .compute = compute_qlinear_conv,
                .flops = qlinear_products,
                .min_inputs = 8,
                .slices = images_apart});
  registry.add({.type = "QuantConv2D",
                .onnx_type = "",
                .signature = {"a?*", window_attributes("kernel_shape=ints:1.. group=1..")},
                .kind = OpKind::kConvolution,
                .infer = infer_quant_conv,
                .compute = compute_quant_conv,
                .flops = products_per_output,
                .min_inputs = 2,
                .window = convolution_window,
                .epilogue = Epilogue::kBytes,
                .slices = images_apart,
                .free_values = {1, 2, 3, 5}});
}

}  // namespace aoe::reference
