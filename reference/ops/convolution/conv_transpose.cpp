// Conv2DTranspose: transposed convolution over one to three spatial axes. Each input element
// scatters its window.
#include <algorithm>

#include "base/size.h"
#include "reference/elements/doubles.h"
#include "reference/fail.h"
#include "reference/op.h"
#include "reference/slicing.h"
#include "reference/tensors/axes.h"
#include "reference/tensors/widen.h"
#include "reference/windows/window.h"

namespace aoe::reference {
namespace {

/// The window of the convolution that this one transposes: its output is our input.
Window transposed_window(const Attrs& attrs, const Shape& x, const Shape& weight) {
  return transposed_window_of(attrs, x, kernel_of(attrs, weight));
}

std::vector<TensorDesc> infer_conv_transpose(const InferContext& context) {
  const Shape &x = context.shape(0), &weight = context.shape(1);
  const Window window = transposed_window(context.attrs, x, weight);
  const std::int64_t groups = context.attrs.get_int("group", 1);
  if (x[1] != kUnknownDim && weight[0] != kUnknownDim && x[1] != weight[0]) {
    fail_model("input has " + std::to_string(x[1]) + " channels, weight " + to_string(weight) +
               " needs " + std::to_string(weight[0]));
  }
  if (groups < 1 || (x[1] != kUnknownDim && x[1] % groups != 0)) {
    fail_model(std::to_string(x[1]) + " input channels do not divide into " +
               std::to_string(groups) + " groups");
  }
  const std::int64_t channels = checked_product(weight[1], groups);
  if (context.has_input(2)) check_vector(context.shape(2), channels, "the bias");
  Shape y = {x[0], channels};
  for (std::size_t i = window.axes.size() - window.rank; i < window.axes.size(); ++i) {
    y.push_back(window.axes[i].input);
  }
  return {{.dtype = context.dtype(0), .shape = std::move(y)}};
}

/// y (one output plane) += what one input plane scatters through one kernel.
void scatter_plane(const Window& window, const double* x, const double* kernel, double* y) {
  const auto& [d, h, w] = window.axes;
  for (std::int64_t kd = 0; kd < d.kernel; ++kd) {
    const auto [id_begin, id_end] = d.outputs_inside(kd);
    for (std::int64_t kh = 0; kh < h.kernel; ++kh) {
      const auto [ih_begin, ih_end] = h.outputs_inside(kh);
      for (std::int64_t kw = 0; kw < w.kernel; ++kw) {
        const auto [iw_begin, iw_end] = w.outputs_inside(kw);
        const double factor = kernel[(kd * h.kernel + kh) * w.kernel + kw];
        for (std::int64_t id = id_begin; id < id_end; ++id) {
          for (std::int64_t ih = ih_begin; ih < ih_end; ++ih) {
            const double* from = x + (id * h.output + ih) * w.output;
            double* to = y + (d.tap(id, kd) * h.input + h.tap(ih, kh)) * w.input;
            const std::int64_t shift = w.tap(0, kw), stride = w.stride;
            for (std::int64_t iw = iw_begin; iw < iw_end; ++iw) {
              to[iw * stride + shift] += factor * from[iw];
            }
          }
        }
      }
    }
  }
}

void compute_conv_transpose(const OpContext& context) {
  const Shape &x_shape = context.inputs[0].desc.shape, &w_shape = context.inputs[1].desc.shape;
  const Window window = transposed_window(context.attrs, x_shape, w_shape);
  const std::int64_t groups = context.attrs.get_int("group", 1);
  const std::int64_t in_channels = w_shape[0], out_channels = w_shape[1] * groups;
  const std::int64_t group_in = in_channels / groups, group_out = w_shape[1];
  const std::int64_t in_plane = window.output_elements(), out_plane = window.input_elements();
  const auto x = to_doubles(context.inputs[0]);
  const auto weight = to_doubles(context.inputs[1]);
  const auto bias = context.has_input(2)
                        ? to_doubles(context.inputs[2])
                        : std::vector<double>(static_cast<std::size_t>(out_channels));
  std::vector<double> y = doubles(static_cast<std::size_t>(x_shape[0] * out_channels * out_plane));
  for (std::int64_t n = 0; n < x_shape[0]; ++n) {
    for (std::int64_t oc = 0; oc < out_channels; ++oc) {
      double* plane = y.data() + (n * out_channels + oc) * out_plane;
      std::fill_n(plane, out_plane, bias[static_cast<std::size_t>(oc)]);
      for (std::int64_t i = 0; i < group_in; ++i) {
        const std::int64_t ic = oc / group_out * group_in + i;
        scatter_plane(window, x.data() + (n * in_channels + ic) * in_plane,
                      weight.data() + (ic * group_out + oc % group_out) * window.kernel_elements(),
                      plane);
      }
    }
  }
  from_doubles(y, context.outputs[0]);
}

/// Two for each weight of an input channel.
double products_per_input(const CostContext& cost) {
  const double channels = std::max(1.0, static_cast<double>(cost.inputs[1].shape[0]));
  return 2.0 * cost.input_elements(0) * (cost.input_elements(1) / channels);
}

}  // namespace

void register_conv_transpose(OpRegistry& registry) {
  registry.add(
      {.type = "Conv2DTranspose",
       .onnx_type = "ConvTranspose",
       .signature =
           {"f1:3-5 f1:3-5 f1?:1",
            window_attributes(
                "kernel_shape=ints:1.. group=1.. output_padding=ints:0.. output_shape=ints:1..")},
       .kind = OpKind::kConvolution,
       .infer = infer_conv_transpose,
       .compute = compute_conv_transpose,
       .flops = products_per_input,
       .min_inputs = 2,
       .window = transposed_window,
       .epilogue = Epilogue::kFloat,
       .has_image_formats = true,
       .slices = images_apart,
       .factors = 2});
}

}  // namespace aoe::reference
