// RMSNormalization, and what ONNX Runtime calls it: SimplifiedLayerNormalization, SkipSimplifiedLayerNormalization.
#include <numeric>

#include "graph/import/function_call.h"
#include "reference/tensors/axes.h"

namespace aoe::graph {
namespace {

struct RmsNorm {
  Term y;
  Term inverse;  ///< 1 / root mean square, the size of the normalised axes 1
};

RmsNorm rms_norm(Term x, Term scale, std::int64_t axis, double epsilon, DataType stash) {
  FunctionCall& call = *x.call;
  const auto rank = static_cast<std::size_t>(call.rank(x));
  const std::size_t first = reference::normalize_axis(axis, rank);
  std::vector<std::int64_t> axes(rank - first);
  std::iota(axes.begin(), axes.end(), static_cast<std::int64_t>(first));
  reference::Attrs keep;
  keep.set("keepdims", std::int64_t{1});
  const Term wide = call.cast(x, stash);
  const Term mean = call.op("ReduceMean", {wide * wide, call.ints(axes)}, keep);
  const Term root = call.op("Sqrt", {mean + epsilon});
  return {call.cast(call.cast(wide / root, call.dtype(x)), call.dtype(scale)) * scale,
          call.op("Reciprocal", {root})};
}

RmsNorm rms_norm(FunctionCall& call, Term x, Term scale) {
  const DataType stash =
      call.attrs().get_int("stash_type", 1) == 1 && call.dtype(x) != DataType::kDouble
          ? DataType::kFloat
          : call.dtype(x);
  return rms_norm(x, scale, call.attrs().get_int("axis", -1),
                  static_cast<double>(call.attrs().get_float("epsilon", 1e-5f)), stash);
}

void expand_rms_normalization(FunctionCall& call) {
  const RmsNorm norm = rms_norm(call, call.input(0), call.input(1));
  call.give(0, norm.y);
  if (call.wants(1)) call.give(1, norm.inverse);
}

void expand_with_skip(FunctionCall& call) {
  Term sum = call.input(0) + call.input(1);
  if (call.has(3)) sum = sum + call.input(3);
  const RmsNorm norm = rms_norm(call, sum, call.input(2));
  call.give(0, norm.y);
  // It has a mean by name only, of which it takes nothing away.
  if (call.wants(1))
    call.give(1, call.op("Expand", {call.number(0, call.dtype(norm.inverse)),
                                    call.op("Shape", {norm.inverse})}));
  if (call.wants(2)) call.give(2, norm.inverse);
  if (call.wants(3)) call.give(3, sum);
}

}  // namespace

void register_rms_normalization(FunctionRegistry& registry) {
  registry.add({"", "RMSNormalization", expand_rms_normalization});
  registry.add({"", "SimplifiedLayerNormalization", expand_rms_normalization});
  registry.add({kMicrosoft, "SimplifiedLayerNormalization", expand_rms_normalization});
  registry.add({kMicrosoft, "SkipSimplifiedLayerNormalization", expand_with_skip});
}

}  // namespace aoe::graph
