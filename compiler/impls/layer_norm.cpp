// layer_norm: generated LayerNorm, InstanceNorm and GroupNorm in dense layout: rows of neighbouring
// elements brought to mean 0 and variance 1, then scaled and shifted per element of the row, or per
// channel where a row holds whole channels.
#include <algorithm>

#include "compiler/emit/broadcast_layout.h"
#include "compiler/emit/kernel_buffers.h"
#include "compiler/emit/row_loop.h"
#include "compiler/emit/strided_nest.h"
#include "compiler/plain_task.h"
#include "reference/tensors/axes.h"

namespace aoe::compiler {
namespace {

using loopnest::broadcast;

constexpr std::int64_t kElementCost = 6;         ///< vector operations
constexpr int kGroupNormPerChannelVersion = 21;  ///< scale and bias were per group before

struct NormRows {
  std::int64_t rows = 1, row = 1;
  std::int64_t groups = 1;    ///< rows that repeat the same parameters come this many apart
  std::int64_t channels = 0;  ///< per row, when parameters are per channel; 0: per element
};

NormRows norm_rows(const Task& task) {
  const Shape& shape = task.in(0).shape;
  if (task.op.type == "LayerNorm") {
    const std::size_t axis =
        reference::normalize_axis(task.op.attrs.get_int("axis", -1), shape.size());
    return {.rows = reference::dim_product(shape, 0, axis),
            .row = reference::dim_product(shape, axis, shape.size())};
  }
  const std::int64_t groups =
      task.op.type == "GroupNorm" ? task.op.attrs.get_int("num_groups", 1) : shape[1];
  const std::int64_t channels = shape[1] / groups;
  return {.rows = shape[0] * groups,
          .row = channels * reference::dim_product(shape, 2, shape.size()),
          .groups = groups,
          .channels = channels};
}

/// Emits one row; `scale(i, active)` and `shift` give the parameters at element i of the row.
class Row {
 public:
  using Parameter = std::function<Vec(Int i, std::optional<Int> active)>;
  Row(Builder& builder, const RowLoop& loop, Buffer x, Int base)
      : builder_(builder), loop_(loop), x_(x), base_(base) {}

  /// Mean and 1 / sqrt(variance + epsilon), in two passes: one pass would cancel digits.
  void measure(float epsilon) {
    const Vec count = splat(static_cast<float>(loop_.extent), 1);
    const Vec sum = loop_.reduce(builder_, 0, loopnest::add, loopnest::reduce_add,
                                 [&](Int i, std::optional<Int> active) { return load(i, active); });
    mean_ = broadcast(keep(sum / count), loop_.lanes);
    const Vec squares = loop_.reduce(builder_, 0, loopnest::add, loopnest::reduce_add,
                                     [&](Int i, std::optional<Int> active) {
                                       const Vec distance = keep(load(i, active) - *mean_);
                                       return distance * distance;
                                     });
    const Vec deviation = sqrt(squares / count + splat(epsilon, 1));
    factor_ = broadcast(keep(splat(1.0f, 1) / deviation), loop_.lanes);
  }

  Vec normalised(Int i, std::optional<Int> active) const {
    return (load(i, active) - *mean_) * *factor_;
  }

 private:
  Vec load(Int i, std::optional<Int> active) const {
    return builder_.load(x_, base_ + i, loop_.lanes, active);
  }
  Vec keep(const Vec& v) const { return builder_.get(builder_.local(v)); }

  Builder& builder_;
  const RowLoop& loop_;
  Buffer x_;
  Int base_;
  std::optional<Vec> mean_, factor_;
};

class LayerNormPlan final : public NestPlan {
 public:
  LayerNormPlan(const Task& task, const FormatChoice& format, const Soc& soc)
      : LayerNormPlan(task, format, soc, norm_rows(task)) {}

  Features features(const Schedule& schedule) const override {
    Features features = NestPlan::features(schedule);
    features.emplace_back("row", static_cast<double>(rows_.row));
    features.emplace_back("accumulators", static_cast<double>(tiling(schedule).accumulators));
    return features;
  }

  double estimate_ns(const Schedule&) const override {
    return plain_estimate_ns(task(), soc(), kElementCost);
  }

  Kernel build(const Schedule& schedule) const override {
    const NestTiling tiling = this->tiling(schedule);
    std::vector<PackedConstant> constants;
    std::vector<std::size_t> constant_of(task().inputs.size());
    for (std::size_t i = 1; i < task().inputs.size(); ++i) {
      if (!task().inputs[i].constant) continue;
      constant_of[i] = constants.size();
      constants.push_back(packed_in_format(task().inputs[i].constant, task().in(i).shape,
                                           Format::kND, soc().vector_lanes()));
    }
    Builder builder("layer_norm");
    const KernelBuffers buffers = declare_buffers(builder, task(), constants.size(), false);
    const auto parameter = [&](std::size_t i) -> std::optional<Buffer> {
      if (!task().has_input(i)) return {};
      return task().inputs[i].constant ? buffers.constants[constant_of[i]] : *buffers.inputs[i];
    };
    const RowLoop loop{rows_.row, soc().vector_lanes(), tiling.accumulators};
    emit(builder, tiling, [&](const NestPosition& at) {
      Row row(builder, loop, *buffers.inputs[0], at.offsets[0]);
      row.measure(task().op.attrs.get_float("epsilon", 1e-5f));
      emit_output(builder, loop, row, parameter(1), parameter(2), buffers.outputs[0], at);
    });
    return jit_kernel(builder.finish(), std::move(constants));
  }

 private:
  LayerNormPlan(const Task& task, const FormatChoice& format, const Soc& soc, const NormRows& rows)
      : NestPlan(task, format, soc, {.extents = {rows.rows, 1}, .strides = {{rows.row, 0}}}, 1,
                 rows.row * kElementCost, accumulated()),
        rows_(rows) {}

  void emit_output(Builder& builder, const RowLoop& loop, const Row& row,
                   std::optional<Buffer> scale, std::optional<Buffer> bias, Buffer y,
                   const NestPosition& at) const {
    const int lanes = loop.lanes;
    if (rows_.channels == 0) {
      loop.for_each(builder, [&](Int i, std::optional<Int> active) {
        Vec value = row.normalised(i, active);
        if (scale && bias) {
          value = fma(value, builder.load(*scale, i, lanes, active),
                      builder.load(*bias, i, lanes, active));
        } else if (scale) {
          value = value * builder.load(*scale, i, lanes, active);
        }
        builder.store(y, at.offsets[0] + i, value, active);
      });
      return;
    }
    const RowLoop plane{rows_.row / rows_.channels, lanes, loop.accumulators};
    builder.loop("c", 0, rows_.channels, 1, [&](Int c) {
      const Int channel = at.coordinates[0] % rows_.groups * rows_.channels + c;
      const Vec factor = builder.load_broadcast(*scale, channel, lanes);
      const Vec shift = builder.load_broadcast(*bias, channel, lanes);
      const Int begin = c * plane.extent;
      plane.for_each(builder, [&](Int i, std::optional<Int> active) {
        const Vec value = fma(row.normalised(begin + i, active), factor, shift);
        builder.store(y, at.offsets[0] + begin + i, value, active);
      });
    });
  }

  NormRows rows_;
};

class LayerNorm final : public ImplBy<LayerNormPlan> {
 public:
  std::string_view name() const override { return "layer_norm"; }

  Result<void> supports(const Task& task, const Soc&) const override {
    if (auto plain = supports_plain(task, {"LayerNorm", "InstanceNorm", "GroupNorm"}); !plain) {
      return plain;
    }
    if (task.op.type == "GroupNorm" && task.op.version < kGroupNormPerChannelVersion) {
      return Unexpected("GroupNorm with parameters per group");
    }
    const NormRows rows = norm_rows(task);
    const std::int64_t parameters = rows.channels == 0 ? rows.row : rows.channels * rows.groups;
    for (std::size_t i = 1; i < task.inputs.size(); ++i) {
      if (!task.inputs[i].is_present()) continue;
      const std::int64_t count = element_count(task.in(i).shape);
      if (count != parameters || task.in(i).dtype != DataType::kFloat) {
        return Unexpected("parameter " + to_string(task.in(i)) + ", needs " +
                          std::to_string(parameters) + " of float32");
      }
    }
    return {};
  }
};

}  // namespace

void register_layer_norm(ImplRegistry& registry) {
  registry.add(std::make_unique<LayerNorm>());
}

}  // namespace aoe::compiler
