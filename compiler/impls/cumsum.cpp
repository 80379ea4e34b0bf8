// cumsum: generated CumSum. Lanes hold neighbouring sums where the axis is not the innermost; else one row at a time is
// added up element by element. Rows are spread over the threads.
#include <algorithm>
#include <cmath>

#include "compiler/kernel_buffers.h"
#include "compiler/plain_task.h"
#include "compiler/roofline.h"
#include "compiler/strided_nest.h"
#include "reference/axes.h"

namespace aoe::compiler {
namespace {

using loopnest::Builder;
using loopnest::Int;
using loopnest::Local;
using loopnest::Vec;

reference::AxisView view_of(const Task& task) {
  const Tensor axis = task.inputs[1].constant->view();
  const std::int64_t value =
      axis.desc.dtype == DataType::kInt64 ? *axis.as<std::int64_t>() : *axis.as<std::int32_t>();
  const Shape& shape = task.in(0).shape;
  return reference::view_axis(shape, reference::normalize_axis(value, shape.size()));
}

/// Over sums; both operands are the tensor without its axis.
StridedNest nest_of(const reference::AxisView& view) {
  const Shape strides = {view.dim * view.inner, 1};
  return {.extents = {view.outer, view.inner}, .strides = {strides}};
}

NestTiling tiling_of(const reference::AxisView& view, const Schedule& schedule, const Soc& soc) {
  NestTiling tiling = nest_tiling(schedule, soc);
  if (view.inner == 1) tiling = {.lanes = 1, .row_block = tiling.row_block};
  return tiling;
}

class Cumsum final : public Impl {
 public:
  std::string_view name() const override { return "cumsum"; }

  Result<void> supports(const Task& task, const Soc&) const override {
    if (auto plain = supports_plain(task, {"Cumsum"}); !plain) return plain;
    if (!task.inputs[1].constant) return Unexpected("the axis is not constant");
    if (element_count(task.in(0).shape) == 0) return Unexpected("the input is empty");
    return {};
  }

  std::vector<FormatChoice> formats(const Task& task, const Soc&) const override {
    return {plain_format(task, "ND", Format::kND)};
  }

  ScheduleSpace space(const Task& task, const FormatChoice&, const Soc& soc) const override {
    return nest_space(nest_of(view_of(task)), soc, view_of(task).dim);
  }

  Features features(const Task& task, const FormatChoice&, const Schedule& schedule,
                    const Soc& soc) const override {
    const reference::AxisView view = view_of(task);
    Features features = nest_features(nest_of(view), tiling_of(view, schedule, soc), soc);
    features.emplace_back("bytes", bytes_moved(task));
    return features;
  }

  double estimate_ns(const Task& task, const FormatChoice&, const Soc& soc) const override {
    constexpr double kAdditionNs = 1;  // each waits for the one before
    const reference::AxisView view = view_of(task);
    const double steps = static_cast<double>(view.outer * view.dim) *
                         std::ceil(static_cast<double>(view.inner) / soc.vector_lanes);
    const double balance = parallel_balance(soc, view.outer * view.inner);
    return launch_ns(soc) + std::max(steps * kAdditionNs / (soc.threads * balance),
                                     memory_ns(soc, bytes_moved(task)));
  }

  Kernel build(const Task& task, const FormatChoice&, const Schedule& schedule,
               const Soc& soc) const override {
    const reference::AxisView view = view_of(task);
    const StridedNest nest = nest_of(view);
    const NestTiling tiling = tiling_of(view, schedule, soc);
    const bool is_exclusive = task.op.attrs.get_int("exclusive", 0) != 0;
    const bool is_reverse = task.op.attrs.get_int("reverse", 0) != 0;
    Builder builder("cumsum");
    const KernelBuffers buffers = declare_buffers(builder, task, 0, false);
    builder.parallel(parallel_extent(nest, tiling), [&](Int p) {
      emit_nest(builder, nest, tiling, p, [&](const NestPosition& at) {
        const Local sum = builder.local(loopnest::splat(0, tiling.lanes));
        builder.loop("k", 0, view.dim, 1, [&](Int step) {
          const Int k = is_reverse ? Int(view.dim - 1) - step : step;
          const Int here = at.offsets[0] + k * view.inner;
          const Vec x = builder.load(*buffers.inputs[0], here, tiling.lanes, at.active);
          if (is_exclusive) builder.store(buffers.outputs[0], here, builder.get(sum), at.active);
          builder.assign(sum, builder.get(sum) + x);
          if (!is_exclusive) builder.store(buffers.outputs[0], here, builder.get(sum), at.active);
        });
      });
    });
    Kernel kernel{.kind = KernelKind::kJit};
    kernel.stages.push_back(builder.finish());
    return kernel;
  }
};

}  // namespace

void register_cumsum(ImplRegistry& registry) {
  registry.add(std::make_unique<Cumsum>());
}

}  // namespace aoe::compiler
