// Col2Im: columns of blocks added up to an image; what an unfolded convolution took apart.
#include "base/size.h"
#include "reference/elements/doubles.h"
#include "reference/fail.h"
#include "reference/op.h"
#include "reference/tensors/axes.h"
#include "reference/tensors/widen.h"
#include "reference/windows/block_window.h"

namespace aoe::reference {
namespace {

std::vector<TensorDesc> infer_col2im(const InferContext& ctx) {
  const Shape& x = ctx.shape(0);
  if (!ctx.has_value(1) || !ctx.has_value(2)) {
    if (ctx.shape(1).empty() || ctx.shape(1)[0] == kUnknownDim) throw Undetermined{};
    Shape unknown(static_cast<std::size_t>(ctx.shape(1)[0]) + 2, kUnknownDim);
    unknown[0] = x[0];
    return {{.dtype = ctx.dtype(0), .shape = std::move(unknown)}};
  }
  const Shape image = to_int64s(ctx.inputs[1]);
  const Window blocks = block_window_of(ctx.attrs, image, to_int64s(ctx.inputs[2]));
  const std::int64_t taps = blocks.kernel_elements();
  if (taps == 0 || (x[1] != kUnknownDim && x[1] % taps != 0))
    fail_model("columns of " + std::to_string(x[1]) + " elements for blocks of " +
               std::to_string(taps));
  if (x[2] != kUnknownDim && x[2] != blocks.output_elements())
    fail_model("has " + std::to_string(x[2]) + " columns for " +
               std::to_string(blocks.output_elements()) + " blocks");
  Shape y = {x[0], x[1] == kUnknownDim ? kUnknownDim : x[1] / taps};
  y.insert(y.end(), image.begin(), image.end());
  return {{.dtype = ctx.dtype(0), .shape = std::move(y)}};
}

/// image (one plane) += the columns of its channel: a row of taps, each with all blocks.
void add_columns(const Window& blocks, const double* columns, double* image) {
  const auto& [d, h, w] = blocks.axes;
  for (std::int64_t kd = 0; kd < d.kernel; ++kd)
    for (std::int64_t kh = 0; kh < h.kernel; ++kh)
      for (std::int64_t kw = 0; kw < w.kernel; ++kw)
        for (std::int64_t od = 0; od < d.output; ++od)
          for (std::int64_t oh = 0; oh < h.output; ++oh)
            for (std::int64_t ow = 0; ow < w.output; ++ow, ++columns) {
              const std::int64_t z = d.tap(od, kd), y = h.tap(oh, kh), x = w.tap(ow, kw);
              if (d.is_inside(z) && h.is_inside(y) && w.is_inside(x))
                image[(z * h.input + y) * w.input + x] += *columns;
            }
}

void compute_col2im(const OpContext& ctx) {
  const Shape& shape = ctx.outputs[0].desc.shape;
  const Window blocks =
      block_window_of(ctx.attrs, Shape(shape.begin() + 2, shape.end()), to_int64s(ctx.inputs[2]));
  const std::vector<double> columns = to_doubles(ctx.inputs[0]);
  std::vector<double> image = doubles(static_cast<std::size_t>(element_count(shape)));
  const std::int64_t per_plane = blocks.kernel_elements() * blocks.output_elements();
  for (std::int64_t plane = 0; plane < shape[0] * shape[1]; ++plane)
    add_columns(blocks, columns.data() + plane * per_plane,
                image.data() + plane * blocks.input_elements());
  from_doubles(image, ctx.outputs[0]);
}

}  // namespace

void register_col2im(OpRegistry& registry) {
  registry.add({.type = "Col2im",
                .onnx_type = "Col2Im",
                .versions = {18},
                .signature = {"n:3 l:1 l:1", "dilations=ints:1.. pads=ints:0.. strides=ints:1.."},
                .kind = OpKind::kMove,
                .infer = infer_col2im,
                .compute = compute_col2im,
                .first_parameter = 1,
                .min_inputs = 3});
}

}  // namespace aoe::reference
