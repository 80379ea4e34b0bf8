// softmax: generated SoftmaxV2 and LogSoftmaxV2 of float32 and float64. Along a contiguous axis one row at a time, three
// passes that stay in the first-level cache; along another axis, and where rows are short, one lane
// per row.
#include <algorithm>
#include <limits>

#include "compiler/emit/element_lanes.h"
#include "compiler/emit/kernel_buffers.h"
#include "compiler/emit/row_loop.h"
#include "compiler/emit/strided_nest.h"
#include "compiler/plain_task.h"
#include "compiler/roofline.h"

namespace aoe::compiler {
namespace {

using loopnest::broadcast;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr std::int64_t kExpCost = 20;  ///< vector operations
/// Rows of at most so many elements lie in the registers of their lanes: 4420 rows of 2 take 5 us so, of 12 39 us,
/// and 46 us either way row by row (one thread of a Zen 5).
constexpr std::int64_t kShortRow = 12;

bool is_log(const Task& task) {
  return task.op.type == "LogSoftmaxV2";
}

/// One row of neighbouring elements.
void emit_row(Builder& builder, const RowLoop& row, Buffer x, Buffer y, Int base, bool is_log) {
  const auto load = [&](Buffer buffer, Int i, std::optional<Int> active) {
    return builder.load_as(row.type, buffer, base + i, row.lanes, active);
  };
  const Vec largest =
      row.reduce(builder, -kInfinity, loopnest::max, loopnest::reduce_max,
                 [&](Int i, std::optional<Int> active) { return load(x, i, active); });
  const Vec shift = broadcast(largest, row.lanes);
  const Vec sum = row.reduce(
      builder, 0, loopnest::add, loopnest::reduce_add, [&](Int i, std::optional<Int> active) {
        const Vec e = builder.get(builder.local(exp(load(x, i, active) - shift)));
        if (!is_log) builder.store(y, base + i, e, active);
        return e;
      });
  if (is_log) {
    const Vec total = broadcast(builder.get(builder.local(largest + log(sum))), row.lanes);
    row.for_each(builder, [&](Int i, std::optional<Int> active) {
      builder.store(y, base + i, load(x, i, active) - total, active);
    });
    return;
  }
  const Vec one = loopnest::splat(1, 1, row.type);
  const Vec factor = broadcast(builder.get(builder.local(one / sum)), row.lanes);
  row.for_each(builder, [&](Int i, std::optional<Int> active) {
    builder.store(y, base + i, load(y, i, active) * factor, active);
  });
}

struct Column {
  reference::AxisView view;
  int lanes;
  Type type;
};

/// One row per lane: element k of the rows lies `inner` further.
void emit_column(Builder& builder, const Column& column, Buffer x, Buffer y, const NestPosition& at,
                 bool is_log) {
  const auto [view, lanes, type] = column;
  const auto place = [&](Int k) { return at.offsets[0] + k * view.inner; };
  const auto load = [&](Buffer buffer, Int k) {
    return builder.load_as(type, buffer, place(k), lanes, at.active);
  };
  const auto for_each = [&](const std::function<void(Int)>& body) {
    builder.loop("k", 0, view.dim, 1, body);
  };
  const Local largest = builder.local(loopnest::splat(-kInfinity, lanes, type));
  for_each([&](Int k) { builder.assign(largest, max(builder.get(largest), load(x, k))); });
  const Local sum = builder.local(loopnest::splat(0, lanes, type));
  for_each([&](Int k) {
    const Vec e = builder.get(builder.local(exp(load(x, k) - builder.get(largest))));
    if (!is_log) builder.store(y, place(k), e, at.active);
    builder.assign(sum, builder.get(sum) + e);
  });
  if (is_log) {
    builder.assign(sum, builder.get(largest) + log(builder.get(sum)));
    for_each([&](Int k) { builder.store(y, place(k), load(x, k) - builder.get(sum), at.active); });
    return;
  }
  builder.assign(sum, loopnest::splat(1, lanes, type) / builder.get(sum));
  for_each([&](Int k) { builder.store(y, place(k), load(y, k) * builder.get(sum), at.active); });
}

bool has_short_rows(const reference::AxisView& view) {
  return view.inner == 1 && view.dim <= kShortRow;
}

/// One short row per lane.
void emit_short_rows(Builder& builder, const Column& column, Buffer x, Buffer y,
                     const NestPosition& at, bool is_log) {
  const auto [view, lanes, type] = column;
  const std::int64_t dim = view.dim;
  std::vector<Vec> row;
  for (std::int64_t k = 0; k < dim; ++k)
    row.push_back(builder.get(
        builder.local(builder.load_as(type, x, at.offsets[0] + k, lanes, at.active, dim))));
  Vec largest = row[0];
  for (std::int64_t k = 1; k < dim; ++k) largest = max(largest, row[static_cast<std::size_t>(k)]);
  largest = builder.get(builder.local(largest));
  std::vector<Vec> exps;
  for (const Vec& each : row) exps.push_back(builder.get(builder.local(exp(each - largest))));
  Vec sum = exps[0];
  for (std::int64_t k = 1; k < dim; ++k) sum = sum + exps[static_cast<std::size_t>(k)];
  const Vec by_row = builder.get(
      builder.local(is_log ? largest + log(sum) : loopnest::splat(1, lanes, type) / sum));
  for (std::int64_t k = 0; k < dim; ++k) {
    const auto i = static_cast<std::size_t>(k);
    builder.store(y, at.offsets[0] + k, is_log ? row[i] - by_row : exps[i] * by_row, at.active,
                  dim);
  }
}

/// What is spread over the threads: rows, or lanes of rows.
StridedNest nest_of(const reference::AxisView& view) {
  if (has_short_rows(view)) return {.extents = {view.outer}, .strides = {{view.dim}}};
  if (view.inner == 1) return {.extents = {view.outer, 1}, .strides = {{view.dim, 0}}};
  return {.extents = {view.outer, view.inner}, .strides = {{view.dim * view.inner, 1}}};
}

class SoftmaxPlan final : public NestPlan {
 public:
  SoftmaxPlan(const Task& task, const FormatChoice& format, const Soc& soc)
      : SoftmaxPlan(task, format, soc, softmax_view(task)) {}

  Features features(const Schedule& schedule) const override {
    Features features = NestPlan::features(schedule);
    features.emplace_back("dim", static_cast<double>(view_.dim));
    features.emplace_back("accumulators", static_cast<double>(tiling(schedule).accumulators));
    return features;
  }

  double estimate_ns(const Schedule&) const override {
    return plain_estimate_ns(task(), soc(), kExpCost);
  }

  Kernel build(const Schedule& schedule) const override {
    const NestTiling tiling = this->tiling(schedule);
    Builder builder("softmax");
    const KernelBuffers buffers = declare_buffers(builder, task(), 0, false);
    const Buffer x = *buffers.inputs[0], y = buffers.outputs[0];
    const Type type = lanes_of(task().in(0).dtype);
    const Column column{view_, tiling.lanes, type};
    emit(builder, tiling, [&](const NestPosition& at) {
      if (has_short_rows(view_)) {
        emit_short_rows(builder, column, x, y, at, is_log(task()));
      } else if (view_.inner == 1) {
        const RowLoop row{view_.dim, soc().vector_lanes(), tiling.accumulators, type};
        emit_row(builder, row, x, y, at.offsets[0], is_log(task()));
      } else {
        emit_column(builder, column, x, y, at, is_log(task()));
      }
    });
    return jit_kernel(builder.finish(), {});
  }

 private:
  SoftmaxPlan(const Task& task, const FormatChoice& format, const Soc& soc,
              const reference::AxisView& view)
      : NestPlan(task, format, soc, nest_of(view),
                 view.inner == 1 && !has_short_rows(view) ? 1 : soc.vector_lanes(),
                 view.dim * kExpCost, accumulated()),
        view_(view) {}

  reference::AxisView view_;
};

class Softmax final : public ImplBy<SoftmaxPlan> {
 public:
  std::string_view name() const override { return "softmax"; }
  int version() const override { return 2; }

  Result<void> supports(const Task& task, const Soc&) const override {
    if (auto typed = supports_typed(task, {"SoftmaxV2", "LogSoftmaxV2"}); !typed) return typed;
    if (task.in(0).dtype != DataType::kFloat && task.in(0).dtype != DataType::kDouble)
      return Unexpected(to_string(task.in(0)) + ", needs float32 or float64");
    return {};
  }
};

}  // namespace

void register_softmax(ImplRegistry& registry) {
  registry.add(std::make_unique<Softmax>());
}

}  // namespace aoe::compiler
