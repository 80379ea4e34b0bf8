// cumsum: generated CumSum and CumProd. Lanes hold neighbouring sums where the axis is not the innermost; else one row at a time is
// added up element by element. Rows are spread over the threads.
#include <algorithm>
#include <cmath>

#include "compiler/emit/element_lanes.h"
#include "compiler/emit/kernel_buffers.h"
#include "compiler/emit/strided_nest.h"
#include "compiler/plain_task.h"
#include "compiler/roofline.h"
#include "reference/tensors/axes.h"

namespace aoe::compiler {
namespace {

reference::AxisView running_view(const Task& task) {
  const Tensor axis = task.inputs[1].constant->view();
  const std::int64_t value =
      axis.desc.dtype == DataType::kInt64 ? *axis.as<std::int64_t>() : *axis.as<std::int32_t>();
  const Shape& shape = task.in(0).shape;
  return reference::view_axis(shape, reference::normalize_axis(value, shape.size()));
}

/// Over sums; both operands are the tensor without its axis.
StridedNest running_nest(const reference::AxisView& view) {
  const Shape strides = {view.dim * view.inner, 1};
  return {.extents = {view.outer, view.inner}, .strides = {strides}};
}

class CumsumPlan final : public NestPlan {
 public:
  CumsumPlan(const Task& task, const FormatChoice& format, const Soc& soc)
      : NestPlan(task, format, soc, running_nest(running_view(task)), soc.vector_lanes(),
                 running_view(task).dim),
        view_(running_view(task)) {}

  double estimate_ns(const Schedule&) const override {
    constexpr double kAdditionNs = 1;  // each waits for the one before
    const double steps = static_cast<double>(view_.outer * view_.dim) *
                         std::ceil(static_cast<double>(view_.inner) / soc().vector_lanes());
    const double balance = parallel_balance(soc(), view_.outer * view_.inner);
    return launch_ns(soc()) + std::max(steps * kAdditionNs / (soc().threads * balance),
                                       memory_ns(soc(), bytes_moved(task())));
  }

  Kernel build(const Schedule& schedule) const override {
    const NestTiling tiling = this->tiling(schedule);
    const bool is_exclusive = task().op.attrs.get_int("exclusive", 0) != 0;
    const bool is_reverse = task().op.attrs.get_int("reverse", 0) != 0;
    const bool is_product = task().op.type == "Cumprod";
    Builder builder("cumsum");
    const KernelBuffers buffers = declare_buffers(builder, task(), 0, false);
    emit(builder, tiling, [&](const NestPosition& at) {
      const loopnest::Type type = lanes_of(task().in(0).dtype);
      const Local sum = builder.local(loopnest::splat(is_product ? 1 : 0, tiling.lanes, type));
      builder.loop("k", 0, view_.dim, 1, [&](Int step) {
        const Int k = is_reverse ? Int(view_.dim - 1) - step : step;
        const Int here = at.offsets[0] + k * view_.inner;
        const Vec x = builder.load_as(type, *buffers.inputs[0], here, tiling.lanes, at.active);
        if (is_exclusive) builder.store(buffers.outputs[0], here, builder.get(sum), at.active);
        builder.assign(sum, is_product ? builder.get(sum) * x : builder.get(sum) + x);
        if (!is_exclusive) builder.store(buffers.outputs[0], here, builder.get(sum), at.active);
      });
    });
    return jit_kernel(builder.finish(), {});
  }

 private:
  NestTiling tiling(const Schedule& schedule) const override {
    const NestTiling tiling = NestPlan::tiling(schedule);
    return view_.inner == 1 ? NestTiling{.lanes = 1, .row_block = tiling.row_block} : tiling;
  }

  reference::AxisView view_;
};

class Cumsum final : public ImplBy<CumsumPlan> {
 public:
  std::string_view name() const override { return "cumsum"; }

  Result<void> supports(const Task& task, const Soc&) const override {
    if (auto typed = supports_typed(task, {"Cumsum", "Cumprod"}); !typed) return typed;
    if (!task.inputs[1].constant) return Unexpected("the axis is not constant");
    return {};
  }
};

}  // namespace

void register_cumsum(ImplRegistry& registry) {
  registry.add(std::make_unique<Cumsum>());
}

}  // namespace aoe::compiler
