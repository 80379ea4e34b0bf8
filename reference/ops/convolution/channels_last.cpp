// NhwcConv2D, NhwcQuantConv2D, NhwcMaxPoolV3 and NhwcAvgPoolV2: over images whose channels come last; all besides is a Conv2D's, a
// QuantConv2D's, a MaxPoolV3's with one output or an AvgPoolV2's. Of our own, made where an image's sizes are open (graph/passes/put_channels_last.cpp).
#include "reference/op.h"
#include "reference/windows/nhwc.h"
#include "reference/windows/window.h"

namespace aoe::reference {
namespace {

OpCall channels_first_call(const char* type, const Attrs& attrs) {
  OpCall call{.type = type, .version = ops().find(type)->versions.back(), .attrs = attrs};
  call.attrs.erase(kReadsPlanes);
  return call;
}

Shape input_shape(const Attrs& attrs, const Shape& x) {
  return reads_planes(attrs) ? x : channels_first(x);
}

std::vector<TensorDesc> infer_last(const char* type, const InferContext& context) {
  std::vector<Tensor> inputs(context.inputs.begin(), context.inputs.end());
  inputs[0] = {
      .desc = {.dtype = context.dtype(0), .shape = input_shape(context.attrs, context.shape(0))}};
  std::vector<TensorDesc> outputs = infer(channels_first_call(type, context.attrs), inputs, 1);
  outputs[0].shape = channels_last(outputs[0].shape);
  return outputs;
}

void transpose_images(const Tensor& from, std::vector<std::int64_t> perm, const Tensor& to) {
  OpCall call{.type = "Transpose"};
  call.attrs.set("perm", std::move(perm));
  run(call, std::span(&from, 1), std::span(&to, 1));
}

void compute_last(const char* type, const OpContext& context) {
  const Tensor &x = context.inputs[0], &y = context.outputs[0];
  const bool is_turned = reads_planes(context.attrs);
  Constant first({.dtype = x.desc.dtype, .shape = input_shape(context.attrs, x.desc.shape)});
  Constant result({.dtype = y.desc.dtype, .shape = channels_first(y.desc.shape)});
  if (!is_turned) transpose_images(x, {0, 3, 1, 2}, first.view());
  std::vector<Tensor> inputs(context.inputs.begin(), context.inputs.end());
  if (!is_turned) inputs[0] = first.view();
  const Tensor output = result.view();
  run(channels_first_call(type, context.attrs), inputs, std::span(&output, 1));
  transpose_images(output, {0, 2, 3, 1}, y);
}

Window window_of_nhwc(const Attrs& attrs, const Shape& x, const Shape& weight) {
  return window_of(attrs, input_shape(attrs, x), kernel_of(attrs, weight));
}

Window window_of_nhwc_pool(const Attrs& attrs, const Shape& x, const Shape&) {
  return window_of(attrs, channels_first(x), attrs.get_ints("kernel_shape"));
}

}  // namespace

void register_channels_last(OpRegistry& registry) {
  registry.add(
      {.type = "NhwcConv2D",
       .onnx_type = "",
       .signature = {"s:4 s:4 s?:1",
                     window_attributes("kernel_shape=ints:1.. group=1.. reads_planes=0..1")},
       .kind = OpKind::kConvolution,
       .infer = [](const InferContext& context) { return infer_last("Conv2D", context); },
       .compute = [](const OpContext& context) { compute_last("Conv2D", context); },
       .flops = [](const CostContext& cost) { return ops().find("Conv2D")->flops(cost); },
       .min_inputs = 2,
       .window = window_of_nhwc,
       .factors = 2,
       .has_faster_sums = true});
  registry.add(
      {.type = "NhwcQuantConv2D",
       .onnx_type = "",
       .signature = {"q:4 q:4 a?*",
                     window_attributes("kernel_shape=ints:1.. group=1.. reads_planes=0..1")},
       .kind = OpKind::kConvolution,
       .infer = [](const InferContext& context) { return infer_last("QuantConv2D", context); },
       .compute = [](const OpContext& context) { compute_last("QuantConv2D", context); },
       .flops = [](const CostContext& cost) { return ops().find("QuantConv2D")->flops(cost); },
       .min_inputs = 2,
       .window = window_of_nhwc});
  registry.add(
      {.type = "NhwcMaxPoolV3",
       .onnx_type = "",
       .signature = {"n:4",
                     window_attributes("!kernel_shape=ints:1.. ceil_mode=0..1 storage_order=0..1")},
       .kind = OpKind::kWindow,
       .infer = [](const InferContext& context) { return infer_last("MaxPoolV3", context); },
       .compute = [](const OpContext& context) { compute_last("MaxPoolV3", context); },
       .window = window_of_nhwc_pool});
  registry.add(
      {.type = "NhwcAvgPoolV2",
       .onnx_type = "",
       .signature = {"s:4", window_attributes(
                                "!kernel_shape=ints:1.. ceil_mode=0..1 count_include_pad=0..1")},
       .kind = OpKind::kWindow,
       .infer = [](const InferContext& context) { return infer_last("AvgPoolV2", context); },
       .compute = [](const OpContext& context) { compute_last("AvgPoolV2", context); },
       .window = window_of_nhwc_pool});
}

}  // namespace aoe::reference
