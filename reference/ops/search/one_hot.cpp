// OneHot: a new axis that is "on" at the index and "off" elsewhere.
#include "reference/elements/typed.h"
#include "reference/op.h"
#include "reference/slicing.h"
#include "reference/tensors/axes.h"
#include "reference/tensors/strided.h"

namespace aoe::reference {
namespace {

std::size_t new_axis(const Attrs& attrs, std::size_t indices_rank) {
  return normalize_axis(attrs.get_int("axis", -1), indices_rank + 1);
}

std::vector<TensorDesc> infer_one_hot(const InferContext& ctx) {
  const std::int64_t depth =
      ctx.has_value(1) ? read_scalar<std::int64_t>(ctx.inputs[1], "depth") : kUnknownDim;
  if (ctx.has_value(1) && depth < 0) fail_model("depth is " + std::to_string(depth));
  check_vector(ctx.shape(2), 2, "the tensor of values, off and on,");
  Shape out = ctx.shape(0);
  out.insert(out.begin() + static_cast<std::ptrdiff_t>(new_axis(ctx.attrs, out.size())), depth);
  return {{.dtype = ctx.dtype(2), .shape = std::move(out)}};
}

void compute_one_hot(const OpContext& ctx) {
  const Tensor& out = ctx.outputs[0];
  const Tensor& values = ctx.inputs[2];
  if (values.elements() != 2)
    fail_model("values are " + to_string(values.desc) + ", expected [off, on]");
  const AxisView view =
      view_axis(out.desc.shape, new_axis(ctx.attrs, ctx.inputs[0].desc.shape.size()));
  const std::vector<std::int64_t> indices = read_ints(ctx.inputs[0]);
  visit_word(out.desc.dtype, [&]<typename Word>() {
    const Word* off_on = values.as<Word>();
    fill(out, off_on);
    for (std::int64_t i = 0; i < static_cast<std::int64_t>(indices.size()); ++i) {
      std::int64_t index = indices[static_cast<std::size_t>(i)];
      if (index < 0) index += view.dim;
      if (index < 0 || index >= view.dim) continue;  // such an index is on nowhere
      const std::int64_t outer = i / view.inner;
      out.as<Word>()[(outer * view.dim + index) * view.inner + i % view.inner] = off_on[1];
    }
  });
}

}  // namespace

void register_one_hot(OpRegistry& registry) {
  registry.add({.type = "OneHot",
                .signature = {"n n:0-1 a:1", "axis=int"},
                .kind = OpKind::kSearch,
                .infer = infer_one_hot,
                .compute = compute_one_hot,
                .min_inputs = 3,
                .slices = all_apart});
}

}  // namespace aoe::reference
