// Shape and Size: what a tensor's description says, as values. They never read the tensor's elements.
#include <algorithm>

#include "reference/op.h"

namespace aoe::reference {
namespace {

struct Span {
  std::size_t begin = 0;
  std::size_t end = 0;
};

/// 'start' and 'end' count from the end when negative, and are cut to the rank.
Span span_of(const Attrs& attrs, std::size_t rank) {
  const auto signed_rank = static_cast<std::int64_t>(rank);
  const auto resolve = [&](std::int64_t at) {
    return std::clamp<std::int64_t>(at < 0 ? at + signed_rank : at, 0, signed_rank);
  };
  const std::int64_t begin = resolve(attrs.get_int("start", 0));
  const std::int64_t end = resolve(attrs.get_int("end", signed_rank));
  return {static_cast<std::size_t>(begin), static_cast<std::size_t>(std::max(begin, end))};
}

std::vector<TensorDesc> infer_shape(const InferContext& ctx) {
  const Span span = span_of(ctx.attrs, ctx.shape(0).size());
  return {{.dtype = DataType::kInt64, .shape = {static_cast<std::int64_t>(span.end - span.begin)}}};
}

void compute_shape(const OpContext& ctx) {
  const Shape& shape = ctx.inputs[0].desc.shape;
  const Span span = span_of(ctx.attrs, shape.size());
  std::copy(shape.begin() + static_cast<std::ptrdiff_t>(span.begin),
            shape.begin() + static_cast<std::ptrdiff_t>(span.end),
            ctx.outputs[0].as<std::int64_t>());
}

std::vector<TensorDesc> infer_size(const InferContext&) {
  return {{.dtype = DataType::kInt64}};
}

void compute_size(const OpContext& ctx) {
  *ctx.outputs[0].as<std::int64_t>() = ctx.inputs[0].elements();
}

}  // namespace

void register_shape(OpRegistry& registry) {
  registry.add({.type = "Shape",
                .signature = {"a", "start=int end=int"},
                .kind = OpKind::kSource,
                .infer = infer_shape,
                .compute = compute_shape,
                .reads_shape_only = true});
  registry.add({.type = "Size",
                .signature = {"a"},
                .kind = OpKind::kSource,
                .infer = infer_size,
                .compute = compute_size,
                .reads_shape_only = true});
}

}  // namespace aoe::reference
