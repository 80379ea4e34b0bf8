// gather: generated GatherV2: rows of a table chosen by integer indices, as in embeddings. An index
// outside of the table is taken modulo its size, so that nothing outside is read; the reference
// refuses it.
#include <algorithm>

#include "compiler/emit/broadcast_layout.h"
#include "compiler/emit/kernel_buffers.h"
#include "compiler/emit/strided_nest.h"
#include "compiler/plain_task.h"
#include "compiler/roofline.h"
#include "reference/tensors/axes.h"

namespace aoe::compiler {
namespace {

reference::AxisView gather_view(const Task& task) {
  const Shape& table = task.in(0).shape;
  return reference::view_axis(
      table, reference::normalize_axis(task.op.attrs.get_int("axis", 0), table.size()));
}

/// Over (outer, index, inner): operand 0 is the output, 1 the table without its axis, 2 the
/// indices.
StridedNest gather_nest(const Task& task) {
  const reference::AxisView view = gather_view(task);
  const std::int64_t indices = element_count(task.in(1).shape);
  return {
      .extents = {view.outer, indices, view.inner},
      .strides = {{indices * view.inner, view.inner, 1}, {view.dim * view.inner, 0, 1}, {0, 1, 0}}};
}

class GatherPlan final : public NestPlan {
 public:
  GatherPlan(const Task& task, const FormatChoice& format, const Soc& soc)
      : NestPlan(task, format, soc, gather_nest(task), soc.vector_lanes()) {}

  double estimate_ns(const Schedule&) const override {
    constexpr double kReadAndWritten = 2 * sizeof(float);
    const auto elements = static_cast<double>(element_count(task().out().shape));
    return launch_ns(soc()) + memory_ns(soc(), kReadAndWritten * elements);
  }

  Kernel build(const Schedule& schedule) const override {
    const NestTiling tiling = this->tiling(schedule);
    const reference::AxisView view = gather_view(task());
    Kernel kernel = kernel_for("jit");
    Builder builder("gather");
    const KernelBuffers buffers =
        declare_operands(builder, task(), 2, soc().vector_lanes(), kernel);
    const loopnest::Buffer table = *buffers.inputs[0], indices = *buffers.inputs[1];
    emit(builder, tiling, [&](const NestPosition& at) {
      // Negative indices count from the end.
      const Int index = (builder.load_int(indices, at.offsets[2]) + view.dim) % view.dim;
      const Int from = at.offsets[1] + index * view.inner;
      builder.store(buffers.outputs[0], at.offsets[0],
                    builder.load(table, from, tiling.lanes, at.active), at.active);
    });
    kernel.stages.push_back(builder.finish());
    return kernel;
  }
};

class Gather final : public ImplBy<GatherPlan> {
 public:
  std::string_view name() const override { return "gather"; }

  Result<void> supports(const Task& task, const Soc&) const override {
    if (auto plain = supports_plain(task, {"GatherV2"}); !plain) return plain;
    const DataType indices = task.in(1).dtype;
    if (indices != DataType::kInt32 && indices != DataType::kInt64) {
      return Unexpected("indices are " + to_string(task.in(1)));
    }
    if (gather_view(task).dim == 0) return Unexpected("the table is empty");
    return {};
  }
};

}  // namespace

void register_gather(ImplRegistry& registry) {
  registry.add(std::make_unique<Gather>());
}

}  // namespace aoe::compiler
