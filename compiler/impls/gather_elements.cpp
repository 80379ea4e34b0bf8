// gather_elements: generated GatherElements: each element chosen by an index of its own. An index outside of the axis is
// taken modulo its size, so that nothing outside is read; the reference refuses it.
#include <algorithm>

#include "compiler/emit/broadcast_layout.h"
#include "compiler/emit/kernel_buffers.h"
#include "compiler/emit/strided_nest.h"
#include "compiler/plain_task.h"
#include "compiler/roofline.h"
#include "reference/tensors/axes.h"
#include "reference/tensors/strided.h"

namespace aoe::compiler {
namespace {

std::size_t elements_axis(const Task& task) {
  return reference::normalize_axis(task.op.attrs.get_int("axis", 0), task.in(0).shape.size());
}

/// Over the indices. Operand 0: indices and output, 1: the data without its axis.
StridedNest elements_nest(const Task& task) {
  const Shape& shape = task.in(1).shape;
  Shape data = reference::dense_strides(task.in(0).shape);
  data[elements_axis(task)] = 0;
  StridedNest nest{.extents = shape, .strides = {reference::dense_strides(shape), data}};
  nest.collapse();
  return nest;
}

class GatherElementsPlan final : public NestPlan {
 public:
  GatherElementsPlan(const Task& task, const FormatChoice& format, const Soc& soc)
      : NestPlan(task, format, soc, elements_nest(task), 1) {}

  double estimate_ns(const Schedule&) const override {
    constexpr double kElementNs = 1.5;
    const auto elements = static_cast<double>(element_count(task().out().shape));
    return launch_ns(soc()) +
           std::max(elements * kElementNs / soc().threads, memory_ns(soc(), bytes_moved(task())));
  }

  Kernel build(const Schedule& schedule) const override {
    const std::int64_t dim = task().in(0).shape[elements_axis(task())];
    const std::int64_t step = reference::dense_strides(task().in(0).shape)[elements_axis(task())];
    Kernel kernel = kernel_for("jit");
    Builder builder("gather_elements");
    const KernelBuffers buffers =
        declare_operands(builder, task(), 2, soc().vector_lanes(), kernel);
    const loopnest::Buffer data = *buffers.inputs[0], indices = *buffers.inputs[1];
    emit(builder, tiling(schedule), [&](const NestPosition& at) {
      // Negative indices count from the end.
      const Int index = (builder.load_int(indices, at.offsets[0]) + dim) % dim;
      builder.store(buffers.outputs[0], at.offsets[0],
                    builder.load(data, at.offsets[1] + index * step, 1));
    });
    kernel.stages.push_back(builder.finish());
    return kernel;
  }
};

class GatherElements final : public ImplBy<GatherElementsPlan> {
 public:
  std::string_view name() const override { return "gather_elements"; }

  Result<void> supports(const Task& task, const Soc&) const override {
    if (auto plain = supports_plain(task, {"GatherElements"}); !plain) return plain;
    const DataType indices = task.in(1).dtype;
    if (indices != DataType::kInt32 && indices != DataType::kInt64)
      return Unexpected("indices are " + to_string(task.in(1)));
    return {};
  }
};

}  // namespace

void register_gather_elements(ImplRegistry& registry) {
  registry.add(std::make_unique<GatherElements>());
}

}  // namespace aoe::compiler
