// DeformConv: a convolution whose every tap is moved by an offset of its own, and weighted by a mask. What a tap reads
// between elements is interpolated linearly; outside of the image it is zero.
#include <algorithm>
#include <array>
#include <cmath>

#include "reference/elements/doubles.h"
#include "reference/fail.h"
#include "reference/op.h"
#include "reference/tensors/axes.h"
#include "reference/tensors/widen.h"
#include "reference/windows/window.h"

namespace aoe::reference {
namespace {

Window deform_window(const Attrs& attrs, const Shape& x, const Shape& weight) {
  return window_of(attrs, x, kernel_of(attrs, weight));
}

std::vector<TensorDesc> infer_deform_conv(const InferContext& ctx) {
  const Shape &x = ctx.shape(0), &weight = ctx.shape(1), &offset = ctx.shape(2);
  const Window window = deform_window(ctx.attrs, x, weight);
  const std::int64_t groups = ctx.attrs.get_int("group", 1),
                     offset_groups = ctx.attrs.get_int("offset_group", 1);
  if (x[1] != kUnknownDim && weight[1] != kUnknownDim && x[1] != weight[1] * groups)
    fail_model("input " + to_string(x) + " for a weight " + to_string(weight) + " in " +
               std::to_string(groups) + " groups");
  if ((weight[0] != kUnknownDim && weight[0] % groups != 0) ||
      (x[1] != kUnknownDim && x[1] % offset_groups != 0))
    fail_model("its channels do not divide into the groups");
  const Shape out = window.output_shape();
  Shape y = {x[0], weight[0]}, offsets = {x[0], kUnknownDim}, masks = {x[0], kUnknownDim};
  if (is_static(weight)) {
    masks[1] = offset_groups * window.kernel_elements();
    offsets[1] = masks[1] * static_cast<std::int64_t>(window.rank);
  }
  for (Shape* shape : {&y, &offsets, &masks}) shape->insert(shape->end(), out.begin(), out.end());
  check_same_shape(offset, offsets, "the offset");
  if (ctx.has_input(3)) check_vector(ctx.shape(3), weight[0], "the bias");
  if (ctx.has_input(4)) check_same_shape(ctx.shape(4), masks, "the mask");
  return {{.dtype = ctx.dtype(0), .shape = std::move(y)}};
}

/// One plane between its elements.
double read_between(const Window& window, const double* plane, const std::array<double, 3>& at) {
  double sum = 0;
  for (int corner = 0; corner < 8; ++corner) {
    double weight = 1;
    std::int64_t place = 0;
    bool is_inside = true;
    for (std::size_t axis = 0; axis < 3; ++axis) {
      const bool is_upper = (corner >> axis & 1) != 0;
      const double below = std::floor(at[axis]), part = at[axis] - below;
      weight *= is_upper ? part : 1 - part;
      const WindowAxis& each = window.axes[axis];
      // Compared as numbers: an offset may lie beyond any integer, or be NaN.
      const double element = below + (is_upper ? 1 : 0);
      if (!(element >= 0 && element < static_cast<double>(each.input))) is_inside = false;
      if (is_inside) place = place * each.input + static_cast<std::int64_t>(element);
    }
    if (is_inside && weight != 0) sum += weight * plane[place];
  }
  return sum;
}

class DeformConv {
 public:
  explicit DeformConv(const OpContext& ctx)
      : x_shape_(ctx.inputs[0].desc.shape),
        weight_shape_(ctx.inputs[1].desc.shape),
        window_(deform_window(ctx.attrs, x_shape_, weight_shape_)),
        offset_groups_(ctx.attrs.get_int("offset_group", 1)),
        groups_(ctx.attrs.get_int("group", 1)),
        x_(to_doubles(ctx.inputs[0])),
        weight_(to_doubles(ctx.inputs[1])),
        offset_(to_doubles(ctx.inputs[2])) {
    if (ctx.has_input(3)) bias_ = to_doubles(ctx.inputs[3]);
    if (ctx.has_input(4)) mask_ = to_doubles(ctx.inputs[4]);
  }

  std::vector<double> run() const {
    const std::int64_t out = window_.output_elements(), channels = weight_shape_[0];
    std::vector<double> y = doubles(static_cast<std::size_t>(x_shape_[0] * channels * out));
    std::vector<double> taps(static_cast<std::size_t>(x_shape_[1] * window_.kernel_elements()));
    for (std::int64_t image = 0; image < x_shape_[0]; ++image)
      for (std::int64_t o = 0; o < out; ++o) {
        read_taps(image, o, taps);
        for (std::int64_t c = 0; c < channels; ++c)
          y[static_cast<std::size_t>((image * channels + c) * out + o)] = sum_of(c, taps);
      }
    return y;
  }

 private:
  /// All channels of one output place.
  void read_taps(std::int64_t image, std::int64_t o, std::vector<double>& taps) const {
    const auto& [d, h, w] = window_.axes;
    const std::int64_t out = window_.output_elements(), count = window_.kernel_elements(),
                       rank = static_cast<std::int64_t>(window_.rank),
                       per_group = x_shape_[1] / offset_groups_;
    const std::array<std::int64_t, 3> place = {o / w.output / h.output, o / w.output % h.output,
                                               o % w.output};
    for (std::int64_t group = 0; group < offset_groups_; ++group)
      for (std::int64_t k = 0; k < count; ++k) {
        const std::array<std::int64_t, 3> tap = {k / w.kernel / h.kernel, k / w.kernel % h.kernel,
                                                 k % w.kernel};
        const std::int64_t number = (image * offset_groups_ + group) * count + k;
        std::array<double, 3> at{};
        for (std::size_t axis = 3 - window_.rank; axis < 3; ++axis) {
          const auto which = static_cast<std::int64_t>(axis + window_.rank - 3);
          at[axis] = static_cast<double>(window_.axes[axis].tap(place[axis], tap[axis])) +
                     offset_[static_cast<std::size_t>((number * rank + which) * out + o)];
        }
        const double factor = mask_.empty() ? 1 : mask_[static_cast<std::size_t>(number * out + o)];
        for (std::int64_t c = group * per_group; c < (group + 1) * per_group; ++c) {
          const double* plane = x_.data() + (image * x_shape_[1] + c) * window_.input_elements();
          taps[static_cast<std::size_t>(c * count + k)] = factor * read_between(window_, plane, at);
        }
      }
  }

  double sum_of(std::int64_t channel, const std::vector<double>& taps) const {
    const std::int64_t length = weight_shape_[1] * window_.kernel_elements();
    const std::int64_t group = channel / (weight_shape_[0] / groups_);
    double sum = bias_.empty() ? 0 : bias_[static_cast<std::size_t>(channel)];
    for (std::int64_t i = 0; i < length; ++i)
      sum += weight_[static_cast<std::size_t>(channel * length + i)] *
             taps[static_cast<std::size_t>(group * length + i)];
    return sum;
  }

  const Shape x_shape_, weight_shape_;
  const Window window_;
  const std::int64_t offset_groups_, groups_;
  std::vector<double> x_, weight_, offset_, bias_, mask_;
};

/// Two for each weight of an output channel.
double products_per_place(const CostContext& cost) {
  const double channels = std::max(1.0, static_cast<double>(cost.inputs[1].shape[0]));
  return 2.0 * cost.output_elements() * (cost.input_elements(1) / channels);
}

void compute_deform_conv(const OpContext& ctx) {
  from_doubles(DeformConv(ctx).run(), ctx.outputs[0]);
}

}  // namespace

void register_deform_conv(OpRegistry& registry) {
  registry.add({.type = "DeformableConv2D",
                .onnx_type = "DeformConv",
                .versions = {19},
                .signature = {"f1:3-5 f1:3-5 f1:3-5 f1?:1 f1?:3-5",
                              "dilations=ints:1.. pads=ints:0.. strides=ints:1.. "
                              "kernel_shape=ints:1.. group=1.. offset_group=1.."},
                .kind = OpKind::kConvolution,
                .infer = infer_deform_conv,
                .compute = compute_deform_conv,
                .flops = products_per_place,
                .min_inputs = 3,
                .window = deform_window,
                .factors = 2});
}

}  // namespace aoe::reference
