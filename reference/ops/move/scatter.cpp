// Scatter, ScatterElements, ScatterND: a copy of the data with updates written, added, ... at given indices.
#include "reference/tensors/scatter.h"

#include "reference/elementwise.h"
#include "reference/op.h"
#include "reference/tensors/axes.h"
#include "reference/tensors/indices.h"

namespace aoe::reference {
namespace {

constexpr const char* kReductions = "reduction=none|add|mul|max|min";

void check_same_dtype(const InferContext& ctx) {
  if (ctx.dtype(0) != ctx.dtype(2))
    fail_model("data is " + std::string(name(ctx.dtype(0))) + ", updates are " +
               std::string(name(ctx.dtype(2))));
}

std::vector<TensorDesc> infer_scatter_elements(const InferContext& ctx) {
  check_same_dtype(ctx);
  const std::size_t axis = normalize_axis(ctx.attrs.get_int("axis", 0), ctx.shape(0).size());
  check_element_indices(ctx.shape(0), ctx.shape(1), axis);
  if (is_static(ctx.shape(1)) && is_static(ctx.shape(2)) && ctx.shape(1) != ctx.shape(2))
    fail_model("updates " + to_string(ctx.shape(2)) + " for indices " + to_string(ctx.shape(1)));
  return infer_like_first(ctx);
}

void compute_scatter_elements(const OpContext& ctx) {
  const Tensor& out = ctx.outputs[0];
  copy_dense(ctx.inputs[0], out);
  const std::size_t axis = normalize_axis(ctx.attrs.get_int("axis", 0), out.desc.shape.size());
  const std::vector<std::int64_t> indices = read_indices(ctx.inputs[1], out.desc.shape[axis]);
  visit_type<AllTypes>(out.desc.dtype, [&]<typename T>() {
    const T* updates = ctx.inputs[2].as<T>();
    with_reduction<T>(ctx.attrs, [&](auto combine) {
      for_each_element_index(out.desc.shape, ctx.inputs[1].desc.shape, axis, indices,
                             [&](std::int64_t i, std::int64_t offset) {
                               T& element = out.as<T>()[offset];
                               element = combine(element, updates[i]);
                             });
    });
  });
}

std::vector<TensorDesc> infer_scatter_nd(const InferContext& ctx) {
  check_same_dtype(ctx);
  const Shape& data = ctx.shape(0);
  const Shape& indices = ctx.shape(1);
  if (indices.empty()) fail_model("indices are a scalar");
  if (indices.back() == kUnknownDim) return infer_like_first(ctx);
  const auto depth = static_cast<std::size_t>(indices.back());
  if (depth > data.size())
    fail_model("indices " + to_string(indices) + " reach deeper than data " + to_string(data));
  Shape updates(indices.begin(), indices.end() - 1);
  updates.insert(updates.end(), data.begin() + static_cast<std::ptrdiff_t>(depth), data.end());
  if (is_static(updates) && is_static(ctx.shape(2)) && updates != ctx.shape(2))
    fail_model("updates are " + to_string(ctx.shape(2)) + ", indices ask for " +
               to_string(updates));
  return infer_like_first(ctx);
}

void compute_scatter_nd(const OpContext& ctx) {
  const Tensor& out = ctx.outputs[0];
  copy_dense(ctx.inputs[0], out);
  const BlockIndices blocks = read_block_indices(ctx.inputs[1], out.desc.shape);
  visit_type<AllTypes>(out.desc.dtype, [&]<typename T>() {
    const T* update = ctx.inputs[2].as<T>();
    with_reduction<T>(ctx.attrs, [&](auto combine) {
      for (const std::int64_t offset : blocks.offsets) {
        T* block = out.as<T>() + offset;
        for (std::int64_t i = 0; i < blocks.block_elements; ++i, ++update)
          block[i] = combine(block[i], *update);
      }
    });
  });
}

OpDef scatter_elements(std::string type) {
  return {.type = type,
          .signature = {"a1:1+ x:1+ a1:1+", std::string("axis=int ") + kReductions},
          .kind = OpKind::kMove,
          .infer = infer_scatter_elements,
          .compute = compute_scatter_elements,
          .min_inputs = 3};
}

}  // namespace

void register_scatter(OpRegistry& registry) {
  registry.add(scatter_elements("Scatter"));  // the name of ScatterElements before opset 11
  registry.add(scatter_elements("ScatterElements"));
  registry.add({.type = "ScatterNdUpdate",
                .onnx_type = "ScatterND",
                .signature = {"a1:1+ l:1+ a1", kReductions},
                .kind = OpKind::kMove,
                .infer = infer_scatter_nd,
                .compute = compute_scatter_nd,
                .min_inputs = 3});
}

}  // namespace aoe::reference
