// ReverseSequence: the first elements of each sequence of a batch in reverse order.
#include "reference/elementwise.h"
#include "reference/tensors/axes.h"
#include "reference/tensors/strided.h"

namespace aoe::reference {
namespace {

struct SequenceAxes {
  std::size_t batch = 1;
  std::size_t time = 0;
};

SequenceAxes axes_of(const Attrs& attrs) {
  const std::int64_t batch = attrs.get_int("batch_axis", 1);
  const std::int64_t time = attrs.get_int("time_axis", 0);
  if (batch + time != 1 || batch * time != 0)
    fail_model("batch_axis " + std::to_string(batch) + " and time_axis " + std::to_string(time) +
               ", expected one 0 and the other 1");
  return {static_cast<std::size_t>(batch), static_cast<std::size_t>(time)};
}

std::vector<TensorDesc> infer_reverse(const InferContext& ctx) {
  if (ctx.shape(0).size() < 2)
    fail_model("the shape is " + to_string(ctx.shape(0)) + ", expected batch and time");
  check_vector(ctx.shape(1), ctx.shape(0)[axes_of(ctx.attrs).batch], "sequence_lens");
  return infer_like_first(ctx);
}

void compute_reverse(const OpContext& ctx) {
  const Tensor& in = ctx.inputs[0];
  const SequenceAxes axes = axes_of(ctx.attrs);
  const std::vector<std::int64_t> lengths = read_ints(ctx.inputs[1]);
  const Shape& shape = in.desc.shape;
  if (static_cast<std::int64_t>(lengths.size()) != shape[axes.batch])
    fail_model(std::to_string(lengths.size()) + " sequence_lens for a batch of " +
               std::to_string(shape[axes.batch]));
  copy_dense(in, ctx.outputs[0]);
  const Strides strides = dense_strides(shape);
  const Shape rest(shape.begin() + 2, shape.end());
  const Strides rest_strides(strides.begin() + 2, strides.end());
  for (std::size_t b = 0; b < lengths.size(); ++b) {
    const std::int64_t length = lengths[b];
    if (length < 0 || length > shape[axes.time])
      fail_model("a sequence of " + std::to_string(length) + " in " +
                 std::to_string(shape[axes.time]) + " steps");
    const std::int64_t start = static_cast<std::int64_t>(b) * strides[axes.batch];
    for (std::int64_t t = 0; t < length; ++t) {
      copy_strided(
          in.desc.dtype, rest, {in.data, start + t * strides[axes.time], rest_strides},
          {ctx.outputs[0].data, start + (length - 1 - t) * strides[axes.time], rest_strides});
    }
  }
}

}  // namespace

void register_reverse_sequence(OpRegistry& registry) {
  registry.add({.type = "ReverseSequence",
                .signature = {"a:2+ l:1", "batch_axis=0..1 time_axis=0..1"},
                .kind = OpKind::kMove,
                .infer = infer_reverse,
                .compute = compute_reverse,
                .min_inputs = 2,
                .moved = 1});
}

}  // namespace aoe::reference
