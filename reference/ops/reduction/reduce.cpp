// Reductions over axes: ReduceSum, ReduceMean, ReduceMax, ReduceL2, ReduceLogSumExp, ...
#include "reference/op.h"
#include "reference/slicing.h"
#include "reference/tensors/reductions.h"
#include "reference/tensors/strided.h"

namespace aoe::reference {
namespace {

std::vector<TensorDesc> infer_reduce(const InferContext& ctx, const std::string& type) {
  const bool keepdims = ctx.attrs.get_int("keepdims", 1) != 0;
  const Shape& in = ctx.shape(0);
  const auto flags = reduced_axes(type, ctx.version, ctx.attrs, ctx.inputs);
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

template <template <typename> class Reduction, typename Types = NumericTypes>
void add_reduction(OpRegistry& registry, const std::string& type) {
  const int since = input_axes_since(type);
  const std::string first = std::is_same_v<Types, AllTypes> ? "a" : "n";
  OpDef def{.type = type,
            .versions = {1, since},
            .signature = {first + " l?@" + std::to_string(since) + ":1",
                          "axes=ints keepdims=0..1 noop_with_empty_axes=0..1"},
            .kind = OpKind::kReduction};
  def.infer = [type](const InferContext& ctx) { return infer_reduce(ctx, type); };
  def.compute = [type](const OpContext& ctx) {
    const auto flags = reduced_axes(type, ctx.version, ctx.attrs, ctx.inputs);
    visit_type<Types>(ctx.inputs[0].desc.dtype, [&]<typename T>() {
      reduce<Reduction, T>(ctx.inputs[0], *flags, ctx.outputs[0]);
    });
  };
  def.slices = apart_but_for([type](const Slicing& slicing) {
    return reduced_axes(type, slicing.version, slicing.attrs, slicing.inputs)
        .value_or(std::vector<bool>());
  });
  registry.add(std::move(def));
}

}  // namespace

void register_reduce(OpRegistry& registry) {
  add_reduction<Sum>(registry, "ReduceSum");
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
