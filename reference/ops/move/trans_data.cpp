// TransData: the same tensor in another Format, named by the attributes dst_format and, for NC1HWC0, c0.
#include "reference/fail.h"
#include "reference/op.h"

namespace aoe::reference {
namespace {

std::vector<TensorDesc> infer_trans_data(const InferContext& ctx) {
  const std::string wanted = ctx.attrs.get_string("dst_format", "");
  const auto format = format_from_name(wanted);
  if (!format || *format == Format::kUndefined)
    fail_model("attribute 'dst_format' is '" + wanted + "'");
  TensorDesc out = ctx.inputs[0].desc;
  out.format = *format;
  out.c0 = 0;
  if (*format == Format::kNC1HWC0) {
    out.c0 = static_cast<int>(ctx.attrs.get_int("c0", 0));
    if (out.c0 <= 0) fail_model("attribute 'c0' is " + std::to_string(out.c0));
  }
  return {out};
}

}  // namespace

void register_trans_data(OpRegistry& registry) {
  registry.add(
      {.type = "TransData",
       .onnx_type = "",
       .kind = OpKind::kMove,
       .infer = infer_trans_data,
       .compute = [](const OpContext& ctx) { convert_format(ctx.inputs[0], ctx.outputs[0]); }});
}

}  // namespace aoe::reference
