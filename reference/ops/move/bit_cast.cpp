// BitCast: the same bits read as another type of the same width.
#include <cstring>

#include "reference/elements/onnx_data_type.h"
#include "reference/fail.h"
#include "reference/op.h"

namespace aoe::reference {
namespace {

std::vector<TensorDesc> infer_bit_cast(const InferContext& ctx) {
  const DataType to = data_type_from_onnx(ctx.attrs.get_int("to", 0));
  if (size_bytes(to) != size_bytes(ctx.dtype(0)))
    fail_model(std::string(name(ctx.dtype(0))) + " and " + std::string(name(to)) +
               " differ in width");
  return {{.dtype = to, .shape = ctx.shape(0)}};
}

void compute_bit_cast(const OpContext& ctx) {
  std::memcpy(ctx.outputs[0].data, ctx.inputs[0].data, storage_bytes(ctx.inputs[0].desc));
}

}  // namespace

void register_bit_cast(OpRegistry& registry) {
  registry.add({.type = "BitCast",
                .versions = {26},
                .signature = {"a", "!to=1.."},
                .kind = OpKind::kMove,
                .infer = infer_bit_cast,
                .compute = compute_bit_cast});
}

}  // namespace aoe::reference
