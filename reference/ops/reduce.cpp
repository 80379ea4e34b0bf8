// Reductions over axes: ReduceSum, ReduceMean, ReduceMax, ReduceL2, ReduceLogSumExp, ...
#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "reference/arithmetic.h"
#include "reference/axes.h"
#include "reference/op.h"
#include "reference/strided.h"
#include "reference/typed.h"

namespace aoe::reference {
namespace {

// One reduction of elements of type T: the accumulator, its start, one step, the end. In is T's ComputeType.

template <typename T>
struct Sum {
  using Acc = SumType<T>;
  static constexpr Acc kStart = 0;
  static Acc step(Acc acc, ComputeType<T> x) { return acc + static_cast<Acc>(x); }
  static Acc finish(Acc acc, double) { return acc; }
};

template <typename T>
struct Prod : Sum<T> {
  using Acc = SumType<T>;
  static constexpr Acc kStart = 1;
  static Acc step(Acc acc, ComputeType<T> x) { return acc * static_cast<Acc>(x); }
};

template <typename T>
struct SumSquare : Sum<T> {
  using Acc = SumType<T>;
  static Acc step(Acc acc, ComputeType<T> x) {
    return acc + static_cast<Acc>(x) * static_cast<Acc>(x);
  }
};

template <typename T>
struct L1 : Sum<T> {
  using Acc = SumType<T>;
  static Acc step(Acc acc, ComputeType<T> x) { return acc + static_cast<Acc>(absolute(x)); }
};

template <typename T>
struct Mean {
  using Acc = double;
  static constexpr Acc kStart = 0;
  static Acc step(Acc acc, ComputeType<T> x) { return acc + static_cast<double>(x); }
  static Acc finish(Acc acc, double count) { return acc / count; }
};

template <typename T>
struct L2 {
  using Acc = double;
  static constexpr Acc kStart = 0;
  static Acc step(Acc acc, ComputeType<T> x) {
    return acc + static_cast<double>(x) * static_cast<double>(x);
  }
  static Acc finish(Acc acc, double) { return std::sqrt(acc); }
};

template <typename T>
struct LogSum : Mean<T> {
  static double finish(double acc, double) { return std::log(acc); }
};

/// Keeps the largest x so far and the sum of exp(x - largest), which never overflows.
template <typename T>
struct LogSumExp {
  struct Acc {
    double largest;
    double sum;
  };
  static constexpr Acc kStart{-std::numeric_limits<double>::infinity(), 0};
  static Acc step(Acc acc, ComputeType<T> x) {
    const auto value = static_cast<double>(x);
    if (value == acc.largest) return {value, acc.sum + (std::isfinite(value) || value > 0 ? 1 : 0)};
    if (value > acc.largest) return {value, acc.sum * std::exp(acc.largest - value) + 1};
    return {acc.largest, acc.sum + std::exp(value - acc.largest)};
  }
  static double finish(Acc acc, double) {
    return acc.sum == 0 ? acc.largest : acc.largest + std::log(acc.sum);
  }
};

/// Of bool, 0 and what is not: vectors of bool have no elements to point at.
template <typename T>
using Comparable = std::conditional_t<std::is_same_v<T, bool>, unsigned char, ComputeType<T>>;

template <typename T>
struct Max {
  using Acc = Comparable<T>;
  using Limits = std::numeric_limits<Acc>;
  static constexpr Acc kStart = Limits::has_infinity ? -Limits::infinity() : Limits::lowest();
  static Acc step(Acc acc, Acc x) { return maximum(acc, x); }
  static Acc finish(Acc acc, double) { return acc; }
};

template <typename T>
struct Min : Max<T> {
  using Acc = Comparable<T>;
  using Limits = std::numeric_limits<Acc>;
  static constexpr Acc kStart = Limits::has_infinity ? Limits::infinity() : Limits::max();
  static Acc step(Acc acc, Acc x) { return minimum(acc, x); }
};

/// Which axes go, as flags; nullopt when they are an input whose values are not known.
std::optional<std::vector<bool>> reduced_axes(const Attrs& attrs, bool axes_are_input,
                                              std::span<const Tensor> inputs) {
  const std::size_t rank = inputs[0].desc.shape.size();
  std::vector<std::int64_t> axes = attrs.get_ints("axes");
  if (axes_are_input && inputs.size() > 1 && inputs[1].is_present()) {
    const bool is_empty = inputs[1].elements() == 0;
    if (inputs[1].data == nullptr && !is_empty) return std::nullopt;
    if (!is_empty) axes = read_ints(inputs[1]);
  }
  if (axes.empty()) {
    const bool keeps_all = attrs.get_int("noop_with_empty_axes", 0) != 0;
    return std::vector<bool>(rank, !keeps_all);
  }
  std::vector<bool> flags(rank, false);
  for (const std::size_t axis : normalize_axes(axes, rank)) flags[axis] = true;
  return flags;
}

std::vector<TensorDesc> infer_reduce(const InferContext& ctx, bool axes_are_input) {
  const bool keepdims = ctx.attrs.get_int("keepdims", 1) != 0;
  const Shape& in = ctx.shape(0);
  const auto flags = reduced_axes(ctx.attrs, axes_are_input, ctx.inputs);
  if (!flags) {
    if (keepdims) return {{.dtype = ctx.dtype(0), .shape = Shape(in.size(), kUnknownDim)}};
    const std::int64_t axes = element_count(ctx.shape(1));
    if (axes == kUnknownDim || axes > static_cast<std::int64_t>(in.size())) throw Undetermined{};
    return {{.dtype = ctx.dtype(0),
             .shape = Shape(in.size() - static_cast<std::size_t>(axes), kUnknownDim)}};
  }
  TensorDesc out{.dtype = ctx.dtype(0)};
  for (std::size_t d = 0; d < in.size(); ++d) {
    if (!(*flags)[d])
      out.shape.push_back(in[d]);
    else if (keepdims)
      out.shape.push_back(1);
  }
  return {out};
}

/// Strides of the output in the input's dimensions: 0 along the reduced ones.
Strides output_strides(const Shape& in, const std::vector<bool>& reduced) {
  Strides strides(in.size(), 0);
  std::int64_t stride = 1;
  for (std::size_t d = in.size(); d-- > 0;) {
    if (reduced[d]) continue;
    strides[d] = stride;
    stride *= in[d];
  }
  return strides;
}

template <template <typename> class Reduction, typename T>
void reduce(const Tensor& in, const std::vector<bool>& reduced, const Tensor& out) {
  using R = Reduction<T>;
  const auto outputs = static_cast<std::size_t>(out.elements());
  std::vector<typename R::Acc> accumulators(outputs, R::kStart);
  for_each_row<2>(in.desc.shape,
                  {dense_strides(in.desc.shape), output_strides(in.desc.shape, reduced)},
                  [&](auto offsets, auto steps, std::int64_t count) {
                    const T* x = in.as<T>() + offsets[0];
                    typename R::Acc* acc = accumulators.data() + offsets[1];
                    for (std::int64_t i = 0; i < count; ++i) {
                      acc[i * steps[1]] =
                          R::step(acc[i * steps[1]], static_cast<ComputeType<T>>(x[i * steps[0]]));
                    }
                  });
  const double count =
      outputs == 0 ? 0 : static_cast<double>(in.elements()) / static_cast<double>(outputs);
  for (std::size_t i = 0; i < outputs; ++i)
    out.as<T>()[i] = convert<T>(R::finish(accumulators[i], count));
}

/// `input_axes_since`: the opset at which the axes moved from an attribute to an input.
template <template <typename> class Reduction, typename Types = NumericTypes>
void add_reduction(OpRegistry& registry, const std::string& type, int input_axes_since = 18) {
  OpDef def{.type = type,
            .onnx_type = type,
            .versions = {1, input_axes_since},
            .kind = OpKind::kReduction};
  def.infer = [input_axes_since](const InferContext& ctx) {
    return infer_reduce(ctx, ctx.version >= input_axes_since);
  };
  def.compute = [input_axes_since](const OpContext& ctx) {
    const auto flags = reduced_axes(ctx.attrs, ctx.version >= input_axes_since, ctx.inputs);
    visit_type<Types>(ctx.inputs[0].desc.dtype, [&]<typename T>() {
      reduce<Reduction, T>(ctx.inputs[0], *flags, ctx.outputs[0]);
    });
  };
  registry.add(std::move(def));
}

}  // namespace

void register_reduce(OpRegistry& registry) {
  add_reduction<Sum>(registry, "ReduceSum", 13);
  add_reduction<Mean>(registry, "ReduceMean");
  add_reduction<Max, AllTypes>(registry, "ReduceMax");
  add_reduction<Min, AllTypes>(registry, "ReduceMin");
  add_reduction<Prod>(registry, "ReduceProd");
  add_reduction<SumSquare>(registry, "ReduceSumSquare");
  add_reduction<L1>(registry, "ReduceL1");
  add_reduction<L2>(registry, "ReduceL2");
  add_reduction<LogSum>(registry, "ReduceLogSum");
  add_reduction<LogSumExp>(registry, "ReduceLogSumExp");
}

}  // namespace aoe::reference
