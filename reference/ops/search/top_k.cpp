// TopK: the k largest or smallest elements along an axis with their positions; equal ones in the order of the input,
// NaN larger than all.
#include <algorithm>
#include <numeric>
#include <optional>

#include "reference/elements/typed.h"
#include "reference/op.h"
#include "reference/slicing.h"
#include "reference/tensors/axes.h"
#include "reference/work.h"

namespace aoe::reference {
namespace {

/// The attribute before opset 10, the input since; nullopt when the input's value is not known.
std::optional<std::int64_t> k_of(const InferContext& ctx) {
  if (ctx.version < 10) return ctx.attrs.get_int("k", 0);
  if (!ctx.has_input(1)) fail_model("input 'k' is missing");
  if (!ctx.has_value(1)) return std::nullopt;
  return read_scalar<std::int64_t>(ctx.inputs[1], "k");
}

std::vector<TensorDesc> infer_top_k(const InferContext& ctx) {
  Shape shape = ctx.shape(0);
  const std::size_t axis = normalize_axis(ctx.attrs.get_int("axis", -1), shape.size());
  const auto k = k_of(ctx);
  if (k && (*k < 0 || (shape[axis] != kUnknownDim && *k > shape[axis])))
    fail_model("k is " + std::to_string(*k) + ", but the axis has " + std::to_string(shape[axis]) +
               " elements");
  shape[axis] = k.value_or(kUnknownDim);
  return {{.dtype = ctx.dtype(0), .shape = shape}, {.dtype = DataType::kInt64, .shape = shape}};
}

/// NaN above all, so that there is an order.
template <typename T>
bool is_less(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) return a < b || (b != b && a == a);
  return a < b;
}

void compute_top_k(const OpContext& ctx) {
  const Shape& in = ctx.inputs[0].desc.shape;
  const std::size_t axis = normalize_axis(ctx.attrs.get_int("axis", -1), in.size());
  const AxisView view = view_axis(in, axis);
  const Shape& out = ctx.has_output(0) ? ctx.outputs[0].desc.shape : ctx.outputs[1].desc.shape;
  const std::int64_t k = out[axis];
  const bool is_largest = ctx.attrs.get_int("largest", 1) != 0;
  visit_type<NumericTypes>(ctx.inputs[0].desc.dtype, [&]<typename T>() {
    std::vector<std::int64_t> order(static_cast<std::size_t>(view.dim));
    for (std::int64_t o = 0; o < view.outer; ++o) {
      for (std::int64_t i = 0; i < view.inner; ++i) {
        const T* x = ctx.inputs[0].as<T>() + o * view.dim * view.inner + i;
        const auto is_better = [&](std::int64_t a, std::int64_t b) {
          const auto left = static_cast<ComputeType<T>>(x[a * view.inner]);
          const auto right = static_cast<ComputeType<T>>(x[b * view.inner]);
          if (is_less(left, right)) return !is_largest;
          if (is_less(right, left)) return is_largest;
          return a < b;
        };
        std::iota(order.begin(), order.end(), 0);
        std::partial_sort(order.begin(), order.begin() + k, order.end(), is_better);
        for (std::int64_t j = 0; j < k; ++j) {
          const std::int64_t to = (o * k + j) * view.inner + i;
          const std::int64_t position = order[static_cast<std::size_t>(j)];
          if (ctx.has_output(0)) ctx.outputs[0].as<T>()[to] = x[position * view.inner];
          if (ctx.has_output(1)) ctx.outputs[1].as<std::int64_t>()[to] = position;
        }
      }
    }
  });
}

}  // namespace

void register_top_k(OpRegistry& registry) {
  registry.add({.type = "TopKV2",
                .onnx_type = "TopK",
                .versions = {1, 10},
                .signature = {"n:1+ l?@10:0-1", "axis=int k=0.. largest=0..1 sorted=0..1"},
                .kind = OpKind::kSearch,
                .infer = infer_top_k,
                .compute = compute_top_k,
                .work = sorting_steps,
                .slices = apart_but_for_axis(-1)});
}

}  // namespace aoe::reference
