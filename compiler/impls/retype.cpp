// retype: generated elementwise operators whose element types differ: comparisons, logic, Where and Cast, with
// broadcasting. Elements pass through float32, so only those types are taken whose values it holds.
#include <algorithm>
#include <map>

#include "compiler/broadcast_layout.h"
#include "compiler/kernel_buffers.h"
#include "compiler/roofline.h"
#include "compiler/strided_nest.h"

namespace aoe::compiler {
namespace {

using loopnest::Builder;
using loopnest::Mask;
using loopnest::splat;
using loopnest::Vec;

Vec truth(Mask mask, int lanes) {
  return select(mask, splat(1, lanes), splat(0, lanes));
}
Vec zero(const Vec& like) {
  return splat(0, like.lanes());
}

/// Of at most three operands, in the order of the op's inputs.
using Emit = Vec (*)(const std::vector<Vec>& x);

const std::map<std::string_view, Emit>& emitters() {
  using X = const std::vector<Vec>&;
  static const std::map<std::string_view, Emit> table = {
      {"Equal", [](X x) { return truth(x[0] == x[1], x[0].lanes()); }},
      {"Less", [](X x) { return truth(x[0] < x[1], x[0].lanes()); }},
      {"LessEqual", [](X x) { return truth(x[0] <= x[1], x[0].lanes()); }},
      {"Greater", [](X x) { return truth(x[1] < x[0], x[0].lanes()); }},
      {"GreaterEqual", [](X x) { return truth(x[1] <= x[0], x[0].lanes()); }},
      {"LogicalAnd", [](X x) { return x[0] * x[1]; }},
      {"LogicalOr", [](X x) { return max(x[0], x[1]); }},
      {"LogicalXor", [](X x) { return abs(x[0] - x[1]); }},
      {"LogicalNot", [](X x) { return splat(1, x[0].lanes()) - x[0]; }},
      {"IsNan", [](X x) { return select(x[0] == x[0], zero(x[0]), splat(1, x[0].lanes())); }},
      {"SelectV2", [](X x) { return select(x[0] == zero(x[0]), x[2], x[1]); }},
      {"Cast", [](X x) { return x[0]; }},
  };
  return table;
}

/// Every value of the type is one of float32.
bool is_exact(DataType dtype) {
  constexpr DataType kExact[] = {DataType::kFloat,  DataType::kFloat16, DataType::kBFloat16,
                                 DataType::kInt8,   DataType::kUint8,   DataType::kInt16,
                                 DataType::kUint16, DataType::kBool};
  return std::ranges::find(kExact, dtype) != std::end(kExact);
}

/// Casts that are one rounding, or none, by way of float32.
bool is_castable(DataType from, DataType to) {
  constexpr DataType kTargets[] = {DataType::kFloat, DataType::kFloat16, DataType::kDouble,
                                   DataType::kInt32, DataType::kInt64,   DataType::kBool};
  if (std::ranges::find(kTargets, to) == std::end(kTargets)) return false;
  if (is_exact(from)) return true;
  if (from == DataType::kDouble) return to == DataType::kFloat;
  return is_integer(from) && (to == DataType::kFloat || to == DataType::kBool);
}

std::size_t operand_count(const Task& task) {
  return task.op.type == "Cast" ? 1 : task.inputs.size();
}

/// Operand 0 is the output.
StridedNest nest_of(const Task& task) {
  const Shape& out = task.out().shape;
  const auto strides = [&](const Shape& shape) {
    return operand_strides(shape, Format::kND, out, Format::kND, 0);
  };
  StridedNest nest{.extents = out, .strides = {strides(out)}};
  for (std::size_t i = 0; i < operand_count(task); ++i)
    nest.strides.push_back(strides(task.in(i).shape));
  nest.collapse();
  return nest;
}

class Retype final : public Impl {
 public:
  std::string_view name() const override { return "retype"; }

  Result<void> supports(const Task& task, const Soc&) const override {
    if (!emitters().contains(task.op.type)) return Unexpected("does not compute " + task.op.type);
    if (!task.is_static()) return Unexpected("shapes are not static");
    if (!task.op.epilogue.empty()) return Unexpected("takes no epilogue");
    const DataType out = task.out().dtype;
    if (task.op.type == "Cast") {
      if (is_castable(task.in(0).dtype, out)) return {};
      return Unexpected("float32 lies not between " + to_string(task.in(0)) + " and " +
                        to_string(task.out()));
    }
    if (!is_exact(out)) return Unexpected("float32 does not hold " + to_string(task.out()));
    for (const TaskInput& input : task.inputs)
      if (!is_exact(input.desc.dtype))
        return Unexpected("float32 does not hold " + to_string(input.desc));
    return {};
  }

  std::vector<FormatChoice> formats(const Task& task, const Soc&) const override {
    return {{.name = "ND",
             .inputs = std::vector(task.inputs.size(), Format::kND),
             .outputs = {Format::kND}}};
  }

  ScheduleSpace space(const Task& task, const FormatChoice&, const Soc& soc) const override {
    return nest_space(nest_of(task), soc);
  }

  Features features(const Task& task, const FormatChoice&, const Schedule& schedule,
                    const Soc& soc) const override {
    Features features = nest_features(nest_of(task), nest_tiling(schedule, soc), soc);
    features.emplace_back("bytes", bytes_moved(task));
    return features;
  }

  double estimate_ns(const Task& task, const FormatChoice&, const Soc& soc) const override {
    constexpr double kFlops = 8, kEfficiency = 0.5;
    const double flops = kFlops * static_cast<double>(element_count(task.out().shape));
    return launch_ns(soc) +
           std::max(compute_ns(soc, flops, kEfficiency), memory_ns(soc, bytes_moved(task)));
  }

  Kernel build(const Task& task, const FormatChoice&, const Schedule& schedule,
               const Soc& soc) const override {
    const StridedNest nest = nest_of(task);
    const NestTiling tiling = nest_tiling(schedule, soc);
    Kernel kernel{.kind = KernelKind::kJit};
    Builder builder("retype");
    const KernelBuffers buffers =
        declare_operands(builder, task, operand_count(task), soc.vector_lanes, kernel);
    builder.parallel(parallel_extent(nest, tiling), [&](loopnest::Int p) {
      emit_nest(builder, nest, tiling, p, [&](const NestPosition& at) {
        std::vector<Vec> operands;
        for (std::size_t i = 0; i < operand_count(task); ++i) {
          const std::int64_t stride = nest.strides[i + 1].back();
          // A broadcast element is there even if only some lanes are.
          const Vec x = builder.load(*buffers.inputs[i], at.offsets[i + 1], tiling.lanes,
                                     stride == 0 ? std::nullopt : at.active, stride);
          operands.push_back(builder.get(builder.local(x)));
        }
        builder.store(buffers.outputs[0], at.offsets[0], emitters().at(task.op.type)(operands),
                      at.active);
      });
    });
    kernel.stages.push_back(builder.finish());
    return kernel;
  }
};

}  // namespace

void register_retype(ImplRegistry& registry) {
  registry.add(std::make_unique<Retype>());
}

}  // namespace aoe::compiler
